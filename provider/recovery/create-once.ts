import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type CallOptions, OutcomeUnknownError } from "../../client/client";
import { isOutage, isVerdict } from "../../client/errors";
import { saysYes } from "../../client/settings";
import type { Input, Reply, Route } from "../../contract";
import type { Context } from "../run/context";
import { logicalName } from "../run/context";
import { engineAddress, engineAnswers, say } from "../run/engine";
import type { Run } from "../run/session";
import type { Creation, Made } from "./creation";
import { interrupted, isOf, isRecent, note } from "./earlier-run";
import { allEntries, digest, type Entry, forget } from "./journal";
import { UnknownCreationError } from "./unknown-creation";

let underWay = 0;

/** Whether a call that creates is under way in this process. */
export function isCreating(): boolean {
  return underWay > 0;
}

/** Pauses between the looks at a list in which something may turn up. */
const lookPausesMs = [0, 2_000, 8_000];

/** Makes a call that creates, once, however often it is tried: by a run that was killed and by the one after it. */
export async function createOnce<R extends Route, Listed = never>(
  context: Context,
  creation: Creation<R, Listed>,
): Promise<Made<R>> {
  const { client, urn, run } = context;
  const { route, request, idOf, look } = creation;
  const identity = digest(creation.identity ?? request);

  // Without the name of the resource nothing of an earlier run could be told apart.
  if (!urn) return unwritten(context, creation);
  const earlier = await interrupted(context, creation, identity);

  const keep = async (entry: Entry, reply: Reply<R>, takenUp: boolean): Promise<Made<R>> => {
    const id = idOf(reply);
    await note(context, { ...entry, id, reply: beyond(request as object, reply as object) });
    madeBy(run, route).add(id);
    run.resolved.add(entry.key);
    return { reply, takenUp };
  };

  /** Makes the call of an entry; where its answer is lost, what is there decides. */
  const make = async (entry: Entry, lastTry: boolean): Promise<Made<R>> => {
    const replay = new Replay();
    underWay++;
    try {
      const asked = { ...(request as object), ...entry.request } as Input<R>;
      const reply = await client.call(route, asked, replay.heeded(entry.key));
      return await keep(entry, reply, entry === earlier || replay.ofEarlierRun);
    } catch (error) {
      if (error instanceof OutcomeUnknownError) return lookFor(entry, error, lastTry);
      // Nothing was made, and nothing is left to find out; unless an earlier run asked for it too.
      if (entry !== earlier || isVerdict(error)) forget(entry);
      throw error;
    } finally {
      underWay--;
    }
  };

  const start = async (lastTry: boolean): Promise<Made<R>> => {
    const entry = await newEntry(context, creation, identity);
    await note(context, entry);
    return make(entry, lastTry);
  };

  const lookFor = async (entry: Entry, lost: OutcomeUnknownError, lastTry: boolean): Promise<Made<R>> => {
    const { fresh, seen } = await candidates(context, creation, entry, entry === earlier);
    const ids = fresh.map(idOf);
    if (fresh.length === 1 && entry.before) {
      await say.info(urn, `the answer to its creation was lost; ${ids[0]} came of it and is taken up`);
      return keep(entry, fresh[0], true);
    }
    if (fresh.length > 0 || !look?.atOnce || !seen || lastTry) {
      const keys = isRecent(entry, context) && (await client.honoursKeys().catch(() => false));
      const cure = keys ? "Run `pulumi up` again: the call is made again under its key." : look?.cure;
      const told = ids.map((id) => look?.told?.(id) ?? id);
      throw new UnknownCreationError(lost, identity, { candidates: told, cure, at: Date.parse(entry.at) });
    }
    forget(entry);
    return start(true);
  };

  /** Goes on where an earlier run broke off. */
  const takeUp = async (begun: Entry): Promise<Made<R>> => {
    if (begun.reply) {
      const reply = begun.reply as Reply<R>;
      if ((await creation.isThere?.(reply)) ?? true) {
        // What follows from an earlier job is found again by every run, not only after an interruption.
        if (!creation.key) await say.info(urn, `resuming ${begun.id}, which an interrupted run created`);
        return keep(begun, reply, true);
      }
      forget(begun);
      return start(false);
    }
    if (mayCreateAgain(urn)) {
      forget(begun);
      return start(false);
    }
    if (isRecent(begun, context) && (await client.honoursKeys())) return make(begun, false);
    const seen = new Error(`the run of ${begun.at} broke off at this call`);
    return lookFor(begun, new OutcomeUnknownError(route, begun.key, seen), false);
  };

  return inTurn(context, creation, () => (earlier ? takeUp(earlier) : start(false)));
}

async function unwritten<R extends Route, Listed>(
  { client }: Context,
  { route, request, key }: Creation<R, Listed>,
): Promise<Made<R>> {
  const replay = new Replay();
  const reply = await client.call(route, request, replay.heeded(key));
  return { reply, takenUp: replay.ofEarlierRun };
}

/** Whether an answer is that of an earlier call; one that this very call has made before does not count. */
class Replay {
  #replayed = false;
  #retried = false;

  heeded(idempotencyKey: string | undefined): CallOptions {
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

/** What a reply tells beside what was asked for. */
function beyond(request: object, reply: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(reply).filter(([key]) => !(key in request)));
}

/** Whether the user has said that what is not known to be there is to be created: all of it, or by logical names. */
function mayCreateAgain(urn: string): boolean {
  const said = process.env.RECOMMENDER_CREATE_AGAIN;
  if (!saysYes(said)) return false;
  const names = said?.split(",").map((name) => name.trim()) ?? [];
  return /^(1|true|yes|on)$/i.test(said?.trim() ?? "") || names.includes(logicalName(urn));
}

function madeBy({ made }: Run, { path }: Route): Set<string> {
  const ids = made.get(path) ?? new Set<string>();
  made.set(path, ids);
  return ids;
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
  // Whoever is left over from a run that was killed begins nothing: the next run may be at it already.
  if (engine && !(await engineAnswers(engine)))
    throw new Error("the engine is gone; nothing is made any more");
  return {
    ...{ urn, service: client.service, path: route.path, identity },
    ...(creation.identity !== undefined && { request: { name: (request as { name?: string }).name } }),
    ...{ key: key ?? randomUUID(), derived: key !== undefined },
    ...{ at: new Date(clock.now()).toISOString(), pid: process.pid, host: hostname() },
    ...(engine && { engine }),
    ...(before && { before }),
  };
}

/** What fitted before this run made anything did not come of its calls; not needed where keys are honoured. */
async function fittingBefore<R extends Route, Listed>(
  { client, run }: Context,
  { look, idOf, route }: Creation<R, Listed>,
): Promise<string[] | undefined> {
  if (!look || look.certain === false || (await client.honoursKeys())) return undefined;
  let list = run.listedBefore.get(look.name) as Promise<readonly Listed[]> | undefined;
  if (!list) {
    list = look.list();
    list.catch(() => run.listedBefore.delete(look.name));
    run.listedBefore.set(look.name, list);
  }
  const ids = (await list).flatMap((listed) => look.asReply(listed) ?? []).map(idOf);
  return [...ids, ...madeBy(run, route)];
}

/** What may have come of a call whose answer was lost, and whether that could be seen. */
async function candidates<R extends Route, Listed>(
  context: Context,
  { look, idOf, route }: Creation<R, Listed>,
  { before = [] }: Entry,
  ofEarlierRun: boolean,
): Promise<{ fresh: Reply<R>[]; seen: boolean }> {
  if (!look) return { fresh: [], seen: false };
  const { clock, run } = context;
  const known = new Set([...before, ...madeBy(run, route), ...madeForOthers(context, route)]);
  for (const pauseMs of look.atOnce ? lookPausesMs : [0]) {
    await clock.sleep(pauseMs);
    const list = await look.list().catch((error) => {
      // The journal keeps what an earlier run asked for until the service can be reached again.
      if (ofEarlierRun && isOutage(error)) throw error;
    });
    if (!list) return { fresh: [], seen: false };
    const fresh = list
      .flatMap((listed) => look.asReply(listed) ?? [])
      .filter((made) => !known.has(idOf(made)));
    if (fresh.length > 0) return { fresh, seen: true };
  }
  return { fresh: [], seen: true };
}

/** What is written down for other resources did not come of a call for this one. */
function madeForOthers({ client, urn }: Context, { path }: Route): string[] {
  return allEntries()
    .filter((entry) => entry.urn !== urn && isOf(entry, client) && entry.path === path)
    .flatMap(({ id }) => id ?? []);
}

/** Calls that make the same thing wait for each other, where a lost one is looked for by what it looks like. */
async function inTurn<R extends Route, Listed, T>(
  { client, run }: Context,
  { request, look }: Creation<R, Listed>,
  work: () => Promise<T>,
): Promise<T> {
  if (!look || (await client.honoursKeys())) return work();
  const name = `${look.name} ${(request as { readonly name?: string }).name}`;
  const turn = (run.turns.get(name) ?? Promise.resolve()).then(work);
  run.turns.set(
    name,
    turn.catch(() => undefined),
  );
  return turn;
}
