import { type CallOptions, OutcomeUnknownError } from "../../client/client";
import { isFinal } from "../../client/finality";
import type { Input, Reply, Route } from "../../contract";
import { accountOf } from "../run/account";
import type { Context } from "../run/context";
import { log } from "../run/engine";
import { originHeaders } from "../run/origin";
import { logicalName, partsOf } from "../run/urn";
import { AdoptionByUser, idNamedByUser, rejectHeld } from "./adoption";
import type { Created, Creation } from "./creation";
import { decide } from "./decision";
import { disown } from "./disowned";
import { type EarlierCall, findInterrupted, isRecent, record } from "./earlier-run";
import { type Candidates, candidates, createdBy, evidenceOf } from "./evidence";
import { whyNotOurs } from "./held";
import { identitiesOf } from "./identity";
import { trackCreate } from "./in-flight";
import { erase, type JournalEntry } from "./journal";
import { isOfNote } from "./killed-elsewhere";
import { newEntry } from "./new-entry";
import { UnknownCreationError } from "./unknown-creation";

/** Sends a create at most once, even if a killed run has sent it before. `decision.ts` documents the rules. */
export async function createOnce<R extends Route, Listed = never>(
  context: Context,
  creation: Creation<R, Listed>,
): Promise<Created<R>> {
  // Without a URN, the journal cannot attribute calls to this resource.
  if (!context.urn)
    return sendCreate(context, creation.route, creation.request, { idempotencyKey: creation.key });
  const identities = identitiesOf(creation.identity ?? creation.request);
  const earlier = await findInterrupted(context, creation, identities);
  return queued(context, creation, () => execute(context, creation, identities[0], earlier));
}

/** Collects evidence, decides and acts, until the created object is known or the user must decide. */
async function execute<R extends Route, Listed>(
  context: Context,
  creation: Creation<R, Listed>,
  identity: string,
  earlier: EarlierCall | undefined,
): Promise<Created<R>> {
  const { urn } = context;
  let entry = earlier?.entry;
  let evidence = await evidenceOf(context, creation, earlier);
  let lost: OutcomeUnknownError | undefined;
  let found: Candidates = { ids: [], unread: [] };
  for (;;) {
    const decision = decide(evidence);
    if (decision === "adopt") return adopt(context, creation, identity, earlier as EarlierCall);
    const begun =
      decision === "create" ? await begin(context, creation, identity, earlier) : (entry as JournalEntry);
    const isEarlier = begun === earlier?.entry;
    entry = begun;
    if (decision === "create" || decision === "repeat") {
      const outcome = await call(context, creation, begun, isEarlier);
      if ("reply" in outcome) return recordReply(context, creation, begun, outcome);
      lost = outcome.lost;
      evidence = { call: "lost", isProven: true, sentNow: true };
    } else if (decision === "search") {
      found = await candidates(context, creation, begun, isEarlier);
      evidence = { ...evidence, hasCandidates: true };
    } else if (decision === "resume") {
      const resumed = { reply: begun.reply as Reply<R>, resumed: true };
      const outcome = begun.isUnchecked ? await checkReply(context, creation, begun, resumed) : resumed;
      if ("reply" in outcome) {
        // A call with a derived key is resumed in every run, not only after an interruption.
        if (!creation.key) await log.info(urn, `resuming ${begun.id}, which an interrupted run created`);
        return recordReply(context, creation, begun, outcome);
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
async function adopt<R extends Route, Listed>(
  context: Context,
  creation: Creation<R, Listed>,
  identity: string,
  earlier: EarlierCall,
): Promise<Created<R>> {
  const { entry } = earlier;
  const id = idNamedByUser(context.urn) ?? "";
  await rejectHeld(id, context);
  if (!creation.adopt) {
    throw new AdoptionByUser(id, async () => {
      await settle(context, earlier);
      context.run.resolvedCalls.add(entry.key);
    });
  }
  const reply = await creation.adopt(id);
  const own =
    earlier.mayBeOfOtherStack || isOfNote(entry) ? await begin(context, creation, identity, earlier) : entry;
  return recordReply(context, creation, own, { reply, resumed: true });
}

/** Settles an earlier call. An entry of another stack stays, because that stack may need it. */
async function settle(
  { urn = "", run, step }: Context,
  { entry, mayBeOfOtherStack, isNoted }: EarlierCall,
): Promise<void> {
  if (isNoted && step?.isCreate) await run.initial.settleCreates(urn);
  else if (mayBeOfOtherStack) disown(entry, urn);
  else await erase(entry);
}

/** Records a new call in the journal and settles an earlier one. */
async function begin<R extends Route, Listed>(
  context: Context,
  creation: Creation<R, Listed>,
  identity: string,
  earlier: EarlierCall | undefined,
): Promise<JournalEntry> {
  if (earlier) await settle(context, earlier);
  const entry = await newEntry(context, creation, identity);
  await record(context, entry);
  return entry;
}

/** Sends the call of a journal entry. Returns its response, or the error if the outcome is unknown. */
async function call<R extends Route, Listed>(
  context: Context,
  creation: Creation<R, Listed>,
  entry: JournalEntry,
  isEarlier: boolean,
): Promise<Created<R> | { readonly lost: OutcomeUnknownError }> {
  let created: Created<R>;
  try {
    const options = { idempotencyKey: entry.key, headers: originHeaders(context, creation.route) };
    // The states are read while the service works.
    void context.run.entriesOfAllStacks();
    created = await trackCreate(async () => {
      const sent = await sendCreate(context, creation.route, sentBy(creation, entry), options);
      // The checks take time, and a kill must not lose the id.
      await record(context, { ...withReply(creation, entry, sent.reply), isUnchecked: true });
      return sent;
    });
  } catch (error) {
    if (error instanceof OutcomeUnknownError) return { lost: error };
    // The service rejected the call, so nothing was created, unless an earlier run sent the call too.
    if (!isEarlier || isFinal(error, { mayHaveRun: true })) await erase(entry);
    throw error;
  }
  return checkReply(context, creation, entry, { ...created, resumed: isEarlier || created.resumed });
}

/** Returns the request of a journal entry. A repeated call has the same name as the first one. */
function sentBy<R extends Route, Listed>({ request }: Creation<R, Listed>, entry: JournalEntry): Input<R> {
  return { ...(request as object), ...entry.request } as Input<R>;
}

/** Checks that a reply is about the object of the call. Otherwise the call is lost, and the journal forgets the reply. */
async function checkReply<R extends Route, Listed>(
  context: Context,
  creation: Creation<R, Listed>,
  entry: JournalEntry,
  created: Created<R>,
): Promise<Created<R> | { readonly lost: OutcomeUnknownError }> {
  const doubt = await whyNotOurs(context, creation, entry, created.reply, sentBy(creation, entry));
  if (doubt === undefined) return created;
  await record(context, withoutReply(entry));
  return { lost: new OutcomeUnknownError(creation.route, entry.key, new Error(doubt)) };
}

function withReply<R extends Route, Listed>(
  { request, idOf }: Creation<R, Listed>,
  { isUnchecked: _, ...entry }: JournalEntry,
  reply: Reply<R>,
): JournalEntry {
  return { ...entry, id: idOf(reply), reply: unrequestedFields(request as object, reply as object) };
}

function withoutReply({ id: _, reply: __, isUnchecked: ___, ...entry }: JournalEntry): JournalEntry {
  return entry;
}

/** Records the response in the journal. */
async function recordReply<R extends Route, Listed>(
  context: Context,
  creation: Creation<R, Listed>,
  entry: JournalEntry,
  created: Created<R>,
): Promise<Created<R>> {
  await record(context, withReply(creation, entry, created.reply));
  createdBy(context.run, creation.route).add(creation.idOf(created.reply));
  context.run.resolvedCalls.add(entry.key);
  return created;
}

/** Facts about a lost call that the user must decide about. */
interface Unresolved extends Candidates {
  /** Error of this run's call. Undefined if an earlier run sent it. */
  readonly lost: OutcomeUnknownError | undefined;
  /** Whether this stack is known to have sent the call. */
  readonly isSent: boolean;
  /** Whether only the engine's note in the state shows the call. */
  readonly isNoted: boolean;
}

/** Returns the error that asks the user to decide about a lost call. */
async function unresolved<R extends Route, Listed>(
  context: Context,
  { route, findLost, adopt: adoptsJob }: Creation<R, Listed>,
  entry: JournalEntry,
  { ids, unread, lost, isSent, isNoted }: Unresolved,
): Promise<UnknownCreationError> {
  const runEnded = () =>
    new Error(
      isOfNote(entry)
        ? "a run was killed during this call on another machine, which has the recovery journal; the state only has the engine's note"
        : `${writerOf(entry, context, isSent)} was interrupted before the response`,
    );
  const isUpdate = context.step?.isCreate === false;
  const keyHolds =
    lost && isRecent(entry, context) && (await context.client.honoursKeys().catch(() => false));
  const fix = keyHolds
    ? "Run `pulumi up` again to repeat the call with the same idempotency key."
    : findLost?.fix;
  return new UnknownCreationError(
    lost ?? new OutcomeUnknownError(route, entry.key, runEnded()),
    entry.identity,
    {
      name: logicalName(context.urn),
      candidates: ids,
      unread,
      fix,
      at: Date.parse(entry.at),
      // The engine keeps its note of a create, but drops its note of an update.
      hasPlaceholder: isSent || (isNoted && isUpdate),
      isNotedCreate: isNoted && !isUpdate,
      hasExistingId: adoptsJob === undefined,
    },
  );
}

/** Describes the run that sent a call. It may be of this stack under another name, or of another stack under this name. */
function writerOf(
  { urn, at, account }: JournalEntry,
  { urn: own, settings }: Context,
  isSent: boolean,
): string {
  const { stack } = partsOf(urn);
  const isOfName = stack === partsOf(own).stack;
  const doubt = isOfName ? "another stack may have had that name" : "it may be a former name of this stack";
  const ofStack = isSent && isOfName ? "" : ` of stack ${stack} (${doubt})`;
  const withKey = account === undefined || account === accountOf(settings) ? "" : " with a different API key";
  return `the run${ofStack} of ${at}${withKey}`;
}

/** Sends a create. `resumed` if the response belongs to an earlier call; a retry within this call does not count. */
async function sendCreate<R extends Route>(
  { client }: Context,
  route: R,
  input: Input<R>,
  options: CallOptions,
): Promise<Created<R>> {
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

/** Runs creates with the same name one after the other, because the object of one would look like a candidate of the other. */
async function queued<R extends Route, Listed, T>(
  { client, run }: Context,
  { request, findLost }: Creation<R, Listed>,
  work: () => Promise<T>,
): Promise<T> {
  if (!findLost || (await client.honoursKeys())) return work();
  const name = `${findLost.name} ${(request as { readonly name?: string }).name}`;
  const queue = (run.creationQueues.get(name) ?? Promise.resolve()).then(work);
  run.creationQueues.set(
    name,
    queue.catch(() => undefined),
  );
  return queue;
}
