import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type CallOptions, OutcomeUnknownError } from "../../client/client";
import { isFinal } from "../../client/finality";
import type { Input, Reply, Route } from "../../contract";
import { accountOf } from "../run/account";
import type { Context } from "../run/context";
import { engineAddress, isEngineRunning, log } from "../run/engine";
import { masked } from "../run/masking";
import { originHeaders } from "../run/origin";
import { logicalName, partsOf } from "../run/urn";
import { AdoptionByUser, idNamedByUser } from "./adoption";
import type { Created, Creation } from "./creation";
import { decide } from "./decision";
import { disown } from "./disowned";
import { type EarlierCall, findInterrupted, isRecent, record, serviceIn } from "./earlier-run";
import { type Candidates, candidates, createdBy, evidenceOf, matchesBefore } from "./evidence";
import { identitiesOf } from "./identity";
import { trackCreate } from "./in-flight";
import { erase, type JournalEntry, placeOf } from "./journal";
import { UnknownCreationError } from "./unknown-creation";

/** Sends a call that creates, once, however often it is tried: by a run that was killed and by the one after it. */
export async function createOnce<R extends Route, Listed = never>(
  context: Context,
  creation: Creation<R, Listed>,
): Promise<Created<R>> {
  // Without the name of the resource, the calls of earlier runs cannot be told from others.
  if (!context.urn) return createWithoutJournal(context, creation);
  const identities = identitiesOf(creation.identity ?? creation.request);
  const earlier = await findInterrupted(context, creation, identities);
  return queued(context, creation, () => execute(context, creation, identities[0], earlier));
}

/** Gathers evidence, decides and acts, until what was created is known or the user must be asked. */
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
      if ("reply" in outcome) return keep(context, creation, begun, outcome);
      lost = outcome.lost;
      evidence = { call: "lost", isProven: true, sentNow: true };
    } else if (decision === "search") {
      found = await candidates(context, creation, begun, isEarlier);
      evidence = { ...evidence, hasCandidates: true };
    } else if (decision === "resume") {
      // What follows from an earlier job is found again by every run, not only after an interruption.
      if (!creation.key) await log.info(urn, `resuming ${begun.id}, which an interrupted run created`);
      return keep(context, creation, begun, { reply: begun.reply as Reply<R>, resumed: true });
    } else {
      const isSent = !isEarlier || earlier.isProven;
      throw await unresolved(context, creation, begun, { ...found, lost, isSent });
    }
  }
}

/** Takes what the user names as the outcome of a lost call. */
async function adopt<R extends Route, Listed>(
  context: Context,
  creation: Creation<R, Listed>,
  identity: string,
  earlier: EarlierCall,
): Promise<Created<R>> {
  const { entry } = earlier;
  const id = idNamedByUser(context.urn) ?? "";
  if (!creation.adopt) {
    throw new AdoptionByUser(id, async () => {
      await settle(context, earlier);
      context.run.resolvedCalls.add(entry.key);
    });
  }
  const reply = await creation.adopt(id);
  const own = earlier.mayBeOfOtherStack ? await begin(context, creation, identity, earlier) : entry;
  return keep(context, creation, own, { reply, resumed: true });
}

/** Ends the doubt about an earlier call. An entry of another stack stays: that stack may need it. */
async function settle({ urn = "" }: Context, { entry, mayBeOfOtherStack }: EarlierCall): Promise<void> {
  if (mayBeOfOtherStack) disown(entry, urn);
  else await erase(entry);
}

/** Enters a new call into the journal and settles an earlier one. */
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

/** Sends the call of an entry: its response, or why there is none. */
async function call<R extends Route, Listed>(
  context: Context,
  { route, request }: Creation<R, Listed>,
  entry: JournalEntry,
  isEarlier: boolean,
): Promise<Created<R> | { readonly lost: OutcomeUnknownError }> {
  const replay = new Replay();
  try {
    const asked = { ...(request as object), ...entry.request } as Input<R>;
    const options = { ...replay.callOptions(entry.key), headers: originHeaders(context, route) };
    const reply = await trackCreate(() => context.client.call(route, asked, options));
    return { reply, resumed: isEarlier || replay.ofEarlierRun };
  } catch (error) {
    if (error instanceof OutcomeUnknownError) return { lost: error };
    // Nothing was created, and nothing is left to find out; unless an earlier run sent the call too.
    if (!isEarlier || isFinal(error, { mayHaveRun: true })) await erase(entry);
    throw error;
  }
}

/** Enters the response into the journal. */
async function keep<R extends Route, Listed>(
  context: Context,
  { route, request, idOf }: Creation<R, Listed>,
  entry: JournalEntry,
  created: Created<R>,
): Promise<Created<R>> {
  const id = idOf(created.reply);
  await record(context, {
    ...entry,
    id,
    reply: unrequestedFields(request as object, created.reply as object),
  });
  createdBy(context.run, route).add(id);
  context.run.resolvedCalls.add(entry.key);
  return created;
}

/** What is known about a lost call that only the user can decide about. */
interface Unresolved extends Candidates {
  /** Why the call of this run got no response; undefined if an earlier run sent it. */
  readonly lost: OutcomeUnknownError | undefined;
  /** Whether this stack is known to have sent the call. */
  readonly isSent: boolean;
}

/** What only the user can decide, with all that is known. */
async function unresolved<R extends Route, Listed>(
  context: Context,
  { route, findLost, adopt: adoptsJob }: Creation<R, Listed>,
  entry: JournalEntry,
  { ids, unread, lost, isSent }: Unresolved,
): Promise<UnknownCreationError> {
  const runEnded = () => new Error(`${writerOf(entry, context)} ended during this call`);
  const keyHolds =
    lost && isRecent(entry, context) && (await context.client.honoursKeys().catch(() => false));
  const fix = keyHolds ? "Run `pulumi up` again: it repeats the call under its key." : findLost?.fix;
  return new UnknownCreationError(
    lost ?? new OutcomeUnknownError(route, entry.key, runEnded()),
    entry.identity,
    {
      ...{ name: logicalName(context.urn), candidates: ids, unread, fix, at: Date.parse(entry.at) },
      ...{ isSent, hasExistingId: adoptsJob === undefined },
    },
  );
}

/** Who made a call: this stack, or one that it may have been called before, maybe with another key. */
function writerOf({ urn, at, account }: JournalEntry, { urn: own, settings }: Context): string {
  const { stack } = partsOf(urn);
  const ofStack =
    stack === partsOf(own).stack ? "" : ` of stack ${stack}, which is not known to be this one,`;
  const withKey = account === undefined || account === accountOf(settings) ? "" : " with another API key";
  return `the run${ofStack} of ${at}${withKey}`;
}

async function createWithoutJournal<R extends Route, Listed>(
  { client }: Context,
  { route, request, key }: Creation<R, Listed>,
): Promise<Created<R>> {
  const replay = new Replay();
  const reply = await client.call(route, request, replay.callOptions(key));
  return { reply, resumed: replay.ofEarlierRun };
}

/** Whether a response is that of an earlier call; a repetition within this call does not count. */
class Replay {
  #replayed = false;
  #retried = false;

  callOptions(idempotencyKey: string | undefined): CallOptions {
    return {
      idempotencyKey,
      onReplayed: () => {
        this.#replayed = true;
      },
      onRetry: () => {
        this.#retried = true;
      },
    };
  }

  get ofEarlierRun(): boolean {
    return this.#replayed && !this.#retried;
  }
}

/** The fields of a reply that the request leaves open: what is declared may be secret. */
function unrequestedFields(request: object, reply: object): Record<string, unknown> {
  const asked = request as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(reply).filter(([key]) => asked[key] == null));
}

async function newEntry<R extends Route, Listed>(
  context: Context,
  creation: Creation<R, Listed>,
  identity: string,
): Promise<JournalEntry> {
  const { client, clock, settings, urn = "" } = context;
  const { route, key, request } = creation;
  const before = await matchesBefore(context, creation);
  const engine = engineAddress();
  // A process left over from a killed run begins nothing: the next run may be creating it already.
  if (engine && !(await isEngineRunning(engine)))
    throw new Error("the Pulumi engine has exited; not starting new creates");
  const account = accountOf(settings);
  const address = shownAddress(client.service);
  return {
    urn,
    service: serviceIn(client),
    ...(address && { address }),
    ...placeOf(urn),
    ...(account && { account }),
    path: route.path,
    identity,
    ...(creation.identity !== undefined && { request: { name: (request as { name?: string }).name } }),
    key: key ?? randomUUID(),
    derived: key !== undefined,
    at: new Date(clock.now()).toISOString(),
    pid: process.pid,
    host: hostname(),
    ...(engine && { engine }),
    ...(before && { before }),
  };
}

/** The address of a service without credentials in it; undefined if it is secret. */
function shownAddress(service: string): string | undefined {
  if (masked(service) !== service) return undefined;
  if (!/^https?:/.test(service)) return service;
  const { origin, pathname } = new URL(service);
  return origin + pathname.replace(/\/+$/, "");
}

/** Calls that create the same thing wait for each other: what one creates is no candidate for a lost one. */
async function queued<R extends Route, Listed, T>(
  { client, run }: Context,
  { request, findLost }: Creation<R, Listed>,
  work: () => Promise<T>,
): Promise<T> {
  if (!findLost || (await client.honoursKeys())) return work();
  const name = `${findLost.name} ${(request as { readonly name?: string }).name}`;
  const turn = (run.creationQueues.get(name) ?? Promise.resolve()).then(work);
  run.creationQueues.set(
    name,
    turn.catch(() => undefined),
  );
  return turn;
}
