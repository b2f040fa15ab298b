import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type CallOptions, OutcomeUnknownError } from "../../client/client";
import { isVerdict } from "../../client/errors";
import type { Input, Reply, Route } from "../../contract";
import type { Context } from "../run/context";
import { engineAddress, engineAnswers, log } from "../run/engine";
import { originOf } from "../run/origin";
import type { Created, Creation } from "./creation";
import { decide } from "./decision";
import { interrupted, isRecent, record, serviceIn } from "./earlier-run";
import { candidates, createdBy, evidenceOf, fittingBefore, lookable } from "./evidence";
import { identitiesOf } from "./identity";
import { type Entry, forget } from "./journal";
import { creating } from "./under-way";
import { UnknownCreationError } from "./unknown-creation";

/** Sends a call that creates, once, however often it is tried: by a run that was killed and by the one after it. */
export async function createOnce<R extends Route, Listed = never>(
  context: Context,
  creation: Creation<R, Listed>,
): Promise<Created<R>> {
  // Without the name of the resource, the calls of earlier runs cannot be told from others.
  if (!context.urn) return unwritten(context, creation);
  const identities = identitiesOf(creation.identity ?? creation.request);
  const earlier = await interrupted(context, creation, identities);
  return inTurn(context, creation, () => carryOut(context, creation, identities[0], earlier));
}

/** Gathers evidence, decides and acts, until what was created is known or the user must be asked. */
async function carryOut<R extends Route, Listed>(
  context: Context,
  creation: Creation<R, Listed>,
  identity: string,
  earlier: Entry | undefined,
): Promise<Created<R>> {
  const { urn } = context;
  let entry = earlier;
  let evidence = await evidenceOf(context, creation, earlier);
  let lost: OutcomeUnknownError | undefined;
  let found: readonly Reply<R>[] = [];
  for (;;) {
    const decision = decide(evidence);
    const begun = decision === "create" ? await begin(context, creation, identity, entry) : (entry as Entry);
    entry = begun;
    if (decision === "create" || decision === "repeat") {
      const outcome = await call(context, creation, begun, begun === earlier);
      if ("reply" in outcome) return keep(context, creation, begun, outcome);
      lost = outcome.lost;
      const isSecondTry = evidence.matches === 0;
      evidence = { ...lookable(creation, begun), call: "lost", calledNow: true, isSecondTry };
    } else if (decision === "look") {
      const seen = await candidates(context, creation, begun, begun === earlier);
      found = seen ?? [];
      evidence = { ...evidence, matches: seen?.length ?? "unseen" };
    } else if (decision === "resume") {
      // What follows from an earlier job is found again by every run, not only after an interruption.
      if (!creation.key) await log.info(urn, `resuming ${begun.id}, which an interrupted run created`);
      return keep(context, creation, begun, { reply: begun.reply as Reply<R>, resumed: true });
    } else if (decision === "adopt") {
      const reply = found[0] as Reply<R>;
      const id = creation.idOf(reply);
      await log.info(urn, `the create call got no response, but ${id} is in the service's list; adopting it`);
      return keep(context, creation, begun, { reply, resumed: true });
    } else {
      throw await unresolved(context, creation, begun, found, lost);
    }
  }
}

/** Enters a new call into the journal and erases an earlier one that is settled. */
async function begin<R extends Route, Listed>(
  context: Context,
  creation: Creation<R, Listed>,
  identity: string,
  former: Entry | undefined,
): Promise<Entry> {
  if (former) await forget(former);
  const entry = await newEntry(context, creation, identity);
  await record(context, entry);
  return entry;
}

/** Sends the call of an entry: its response, or why there is none. */
async function call<R extends Route, Listed>(
  context: Context,
  { route, request }: Creation<R, Listed>,
  entry: Entry,
  isEarlier: boolean,
): Promise<Created<R> | { readonly lost: OutcomeUnknownError }> {
  const replay = new Replay();
  try {
    const asked = { ...(request as object), ...entry.request } as Input<R>;
    const options = { ...replay.callOptions(entry.key), headers: originOf(context, route) };
    const reply = await creating(() => context.client.call(route, asked, options));
    return { reply, resumed: isEarlier || replay.ofEarlierRun };
  } catch (error) {
    if (error instanceof OutcomeUnknownError) return { lost: error };
    // Nothing was created, and nothing is left to find out; unless an earlier run sent the call too.
    if (!isEarlier || isVerdict(error)) await forget(entry);
    throw error;
  }
}

/** Enters the response into the journal. */
async function keep<R extends Route, Listed>(
  context: Context,
  { route, request, idOf }: Creation<R, Listed>,
  entry: Entry,
  created: Created<R>,
): Promise<Created<R>> {
  const id = idOf(created.reply);
  await record(context, { ...entry, id, reply: beyond(request as object, created.reply as object) });
  createdBy(context.run, route).add(id);
  context.run.resolved.add(entry.key);
  return created;
}

/** What only the user can decide, with all that is known. */
async function unresolved<R extends Route, Listed>(
  context: Context,
  { route, findLost, idOf }: Creation<R, Listed>,
  entry: Entry,
  found: readonly Reply<R>[],
  lost: OutcomeUnknownError | undefined,
): Promise<UnknownCreationError> {
  const runEnded = () => new Error(`the run of ${entry.at} ended during this call`);
  const keyHolds = isRecent(entry, context) && (await context.client.honoursKeys().catch(() => false));
  const fix = keyHolds ? "Run `pulumi up` again: it repeats the call under its key." : findLost?.fix;
  return new UnknownCreationError(
    lost ?? new OutcomeUnknownError(route, entry.key, runEnded()),
    entry.identity,
    {
      candidates: found.map(idOf).map((id) => findLost?.describe?.(id) ?? id),
      ...{ fix, at: Date.parse(entry.at) },
    },
  );
}

async function unwritten<R extends Route, Listed>(
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
function beyond(request: object, reply: object): Record<string, unknown> {
  const asked = request as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(reply).filter(([key]) => asked[key] == null));
}

async function newEntry<R extends Route, Listed>(
  context: Context,
  creation: Creation<R, Listed>,
  identity: string,
): Promise<Entry> {
  const { client, clock, urn = "" } = context;
  const { route, key, request } = creation;
  const before = await fittingBefore(context, creation);
  const engine = engineAddress();
  // A process left over from a killed run begins nothing: the next run may be creating it already.
  if (engine && !(await engineAnswers(engine)))
    throw new Error("the Pulumi engine has exited; not starting new creates");
  return {
    ...{ urn, service: serviceIn(client), path: route.path, identity },
    ...(creation.identity !== undefined && { request: { name: (request as { name?: string }).name } }),
    ...{ key: key ?? randomUUID(), derived: key !== undefined },
    ...{ at: new Date(clock.now()).toISOString(), pid: process.pid, host: hostname() },
    ...(engine && { engine }),
    ...(before && { before }),
  };
}

/** Calls that create the same thing wait for each other, where a lost one is found by its appearance. */
async function inTurn<R extends Route, Listed, T>(
  { client, run }: Context,
  { request, findLost }: Creation<R, Listed>,
  work: () => Promise<T>,
): Promise<T> {
  if (!findLost || (await client.honoursKeys())) return work();
  const name = `${findLost.name} ${(request as { readonly name?: string }).name}`;
  const turn = (run.turns.get(name) ?? Promise.resolve()).then(work);
  run.turns.set(
    name,
    turn.catch(() => undefined),
  );
  return turn;
}
