import { type CallOptions, OutcomeUnknownError } from "../../client/client";
import { isFinal } from "../../client/finality";
import type { Input, Reply, Route } from "../../contract";
import type { Context } from "../run/context";
import { log } from "../run/engine";
import { originHeaders } from "../run/origin";
import { queued } from "../run/promises";
import { AdoptionByUser, idNamedByUser, rejectHeld } from "./adoption";
import type { AnyCreation, Created, Creation } from "./creation";
import { decide } from "./decision";
import { disown } from "./disowned";
import { type EarlierCall, findInterrupted, record } from "./earlier-run";
import { type Candidates, candidates, createdBy, evidenceOf } from "./evidence";
import { whyNotOurs } from "./held";
import { identitiesOf } from "./identity";
import { trackCreate } from "./in-flight";
import { erase, type JournalEntry } from "./journal";
import { isOfNote } from "./killed-elsewhere";
import { newEntry } from "./new-entry";
import { unresolved } from "./unresolved";

/** Create that `createOnce` is working on. */
interface Attempt {
  readonly context: Context;
  readonly creation: AnyCreation;
  /** Digest that identifies the create when it is tried again. */
  readonly identity: string;
  /** The same create in an interrupted run, if there was one. */
  readonly earlier: EarlierCall | undefined;
}

/** Created object, or the error of a call whose outcome is unknown. */
type Outcome = Created<Route> | { readonly lost: OutcomeUnknownError };

/**
 * Creates an object at most once, even if a killed run has already sent the call. `decision.ts` documents the rules.
 */
export async function createOnce<R extends Route, Listed = never>(
  context: Context,
  typed: Creation<R, Listed>,
): Promise<Created<R>> {
  const creation = typed as AnyCreation;
  const { route, request, key } = creation;
  // Without a URN, the journal cannot attribute calls to this resource.
  if (!context.urn)
    return sendCreate(context, route, request, { idempotencyKey: key }) as Promise<Created<R>>;
  const identities = identitiesOf(creation.identity ?? request);
  const earlier = await findInterrupted(context, creation, identities);
  return inTurn({ context, creation, identity: identities[0], earlier }) as Promise<Created<R>>;
}

/** Collects evidence, decides and acts, until the created object is known or the user must decide. */
async function execute(attempt: Attempt): Promise<Created<Route>> {
  const { context, creation, earlier } = attempt;
  let entry = earlier?.entry;
  let evidence = await evidenceOf(context, creation, earlier);
  let lost: OutcomeUnknownError | undefined;
  let found: Candidates = { ids: [], unread: [] };
  for (;;) {
    const decision = decide(evidence);
    if (decision === "adopt") return adopt(attempt, earlier as EarlierCall);
    if (decision === "create" && evidence.exists === false && !evidence.isStored)
      await log.warn(
        context.urn,
        `the service no longer has ${earlier?.entry.id}, which an interrupted run created, so it is created again`,
      );
    const begun = decision === "create" ? await begin(attempt) : (entry as JournalEntry);
    const isEarlier = begun === earlier?.entry;
    entry = begun;
    if (decision === "create" || decision === "repeat") {
      const outcome = await call(attempt, begun, isEarlier);
      if ("reply" in outcome) return recordReply(attempt, begun, outcome);
      lost = outcome.lost;
      evidence = { call: "lost", isProven: true, sentNow: true };
    } else if (decision === "search") {
      found = await candidates(context, creation, begun, isEarlier);
      evidence = { ...evidence, hasSearched: true };
    } else if (decision === "resume") {
      const resumed = { reply: begun.reply, resumed: true };
      const outcome = begun.isUnchecked ? await checkReply(attempt, begun, resumed) : resumed;
      if ("reply" in outcome) {
        // A call with a derived key is resumed in every run, not only after an interruption.
        if (!creation.key)
          await log.info(
            context.urn,
            `using ${begun.id}, which an interrupted run created, instead of creating it again`,
          );
        return recordReply(attempt, begun, outcome);
      }
      lost = outcome.lost;
      entry = withoutReply(begun);
      evidence = { call: "lost", isProven: true, sentNow: true };
    } else {
      const isSent = !isEarlier || earlier.isProven;
      const isNoted = isEarlier && earlier.isNoted === true;
      throw await unresolved(context, creation, begun, { ...found, lost, isSent, isNoted });
    }
  }
}

/** Uses the object that the user names as the outcome of a lost call. */
async function adopt(attempt: Attempt, earlier: EarlierCall): Promise<Created<Route>> {
  const { context, creation } = attempt;
  const id = idNamedByUser(context.urn) ?? "";
  await rejectHeld(id, context);
  if (!creation.adopt) {
    throw new AdoptionByUser(id, async () => {
      await settle(context, earlier);
      context.run.resolvedCalls.add(earlier.entry.key);
    });
  }
  const reply = await creation.adopt(id);
  const own = earlier.mayBeOfOtherStack || isOfNote(earlier.entry) ? await begin(attempt) : earlier.entry;
  return recordReply(attempt, own, { reply, resumed: true });
}

/** Settles an earlier call. An entry that may belong to another stack is kept, because that stack may need it. */
async function settle(
  { urn = "", run, step }: Context,
  { entry, mayBeOfOtherStack, isNoted }: EarlierCall,
): Promise<void> {
  if (isNoted && step?.isCreate) await run.initial.settleCreates(urn);
  else if (mayBeOfOtherStack) disown(entry, urn);
  else await erase(entry);
}

/** Records a new call in the journal and settles an earlier one. */
async function begin({ context, creation, identity, earlier }: Attempt): Promise<JournalEntry> {
  if (earlier) await settle(context, earlier);
  const entry = await newEntry(context, creation, identity);
  await record(context, entry);
  return entry;
}

/**
 * Sends the call of a journal entry and checks the response. The create counts as in flight until the checks end,
 * because a process that exits earlier would not report the id to the engine.
 */
function call(attempt: Attempt, entry: JournalEntry, isEarlier: boolean): Promise<Outcome> {
  return trackCreate(async () => {
    // Start reading the states of all stacks while the service handles the call.
    void attempt.context.run.entriesOfAllStacks();
    const outcome = await send(attempt, entry, isEarlier);
    return "lost" in outcome ? outcome : checkReply(attempt, entry, outcome);
  });
}

/** Sends the call of a journal entry. Returns its response, or the error if the outcome is unknown. */
async function send(
  { context, creation }: Attempt,
  entry: JournalEntry,
  isEarlier: boolean,
): Promise<Outcome> {
  const options = { idempotencyKey: entry.key, headers: originHeaders(context, creation.route) };
  try {
    const created = await sendCreate(context, creation.route, sentBy(creation, entry), options);
    // Record the id before the checks. They take time, and a kill must not lose the id.
    await record(context, { ...withReply(creation, entry, created.reply), isUnchecked: true });
    return { ...created, resumed: isEarlier || created.resumed };
  } catch (error) {
    if (error instanceof OutcomeUnknownError) return { lost: error };
    // The service rejected the call, so nothing was created, unless an earlier run sent the call too.
    if (!isEarlier || isFinal(error, { mayHaveRun: true })) await erase(entry);
    throw error;
  }
}

/** Returns the request to send for a journal entry. A repeated call has the same name as the first one. */
function sentBy({ request }: AnyCreation, entry: JournalEntry): Input<Route> {
  return { ...request, ...entry.request };
}

/**
 * Checks that a reply is about the object that the call created. If not, the call counts as lost, and the reply is
 * removed from the journal.
 */
async function checkReply(
  { context, creation }: Attempt,
  entry: JournalEntry,
  created: Created<Route>,
): Promise<Outcome> {
  const doubt = await whyNotOurs(context, creation, entry, created.reply, sentBy(creation, entry));
  if (doubt === undefined) return created;
  await record(context, withoutReply(entry));
  return { lost: new OutcomeUnknownError(creation.route, entry.key, new Error(doubt)) };
}

function withReply(
  { request, idOf }: AnyCreation,
  { isUnchecked: _, ...entry }: JournalEntry,
  reply: Reply<Route>,
): JournalEntry {
  return { ...entry, id: idOf(reply), reply: unrequestedFields(request, reply as object) };
}

function withoutReply({ id: _, reply: __, isUnchecked: ___, ...entry }: JournalEntry): JournalEntry {
  return entry;
}

/** Records the response in the journal. */
async function recordReply(
  { context, creation }: Attempt,
  entry: JournalEntry,
  created: Created<Route>,
): Promise<Created<Route>> {
  await record(context, withReply(creation, entry, created.reply));
  createdBy(context.run, creation.route).add(creation.idOf(created.reply));
  context.run.resolvedCalls.add(entry.key);
  return created;
}

/** Sends a create. `resumed` is true if the response belongs to an earlier call, but not if this call was retried. */
async function sendCreate(
  { client }: Context,
  route: Route,
  input: Input<Route>,
  options: CallOptions,
): Promise<Created<Route>> {
  let [isReplayed, isRetried] = [false, false];
  const onReplayed = () => {
    isReplayed = true;
  };
  const onRetry = () => {
    isRetried = true;
  };
  const reply = await client.call(route, input, { ...options, onReplayed, onRetry });
  return { reply, resumed: isReplayed && !isRetried };
}

/** Returns the fields of a reply that are not in the request. Arguments may be secret, so they are not recorded. */
function unrequestedFields(request: object, reply: object): Record<string, unknown> {
  const sent = request as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(reply).filter(([key]) => sent[key] == null));
}

/**
 * Runs creates with the same name one after the other, because the object of one would look like a candidate for the
 * other.
 */
async function inTurn(attempt: Attempt): Promise<Created<Route>> {
  const { client, run } = attempt.context;
  const { request, findLost } = attempt.creation;
  if (!findLost || (await client.honoursKeys())) return execute(attempt);
  return queued(run.creationQueues, `${findLost.name} ${request.name}`, () => execute(attempt));
}
