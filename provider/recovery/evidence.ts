import { isOutage } from "../../client/errors";
import { saysYes } from "../../client/settings";
import type { Reply, Route } from "../../contract";
import type { Context } from "../run/context";
import type { Run } from "../run/session";
import { carriedUrn, logicalName } from "../run/urn";
import type { Creation } from "./creation";
import type { Evidence } from "./decision";
import { isOf, isRecent } from "./earlier-run";
import { allEntries, type Entry } from "./journal";

/** Pauses between the looks at a list in which something may turn up. */
const lookPausesMs = [0, 2_000, 8_000];

/** What is known when a run begins with a call. */
export async function evidenceOf<R extends Route, Listed>(
  context: Context,
  creation: Creation<R, Listed>,
  entry: Entry | undefined,
): Promise<Evidence> {
  if (!entry) return { call: "none" };
  const reply = entry.reply as Reply<R> | undefined;
  if (reply) return { call: "answered", exists: (await creation.isThere?.(reply)) ?? true };
  const createAgain = mayCreateAgain(context.urn ?? "");
  const keyHolds = !createAgain && isRecent(entry, context) && (await context.client.honoursKeys());
  return { ...lookable(creation, entry), call: "lost", createAgain, keyHolds };
}

/** What a look at the list can prove. */
export function lookable<R extends Route, Listed>({ findLost }: Creation<R, Listed>, { before }: Entry) {
  return { hasBaseline: before !== undefined, listIsImmediate: findLost?.listIsImmediate === true };
}

/** Objects that matched before this run created anything are not of its calls; not needed where keys are honoured. */
export async function fittingBefore<R extends Route, Listed>(
  { client, run }: Context,
  { findLost, idOf, request, route }: Creation<R, Listed>,
): Promise<string[] | undefined> {
  if (!findLost || findLost.isUnambiguous === false || (await client.honoursKeys())) return undefined;
  let list = run.listedBefore.get(findLost.name) as Promise<readonly Listed[]> | undefined;
  if (!list) {
    list = findLost.list();
    list.catch(() => run.listedBefore.delete(findLost.name));
    run.listedBefore.set(findLost.name, list);
  }
  const ids = (await list).flatMap((listed) => findLost.match(listed, nameIn(request)) ?? []).map(idOf);
  return [...ids, ...createdBy(run, route)];
}

/** Objects that a call without a response may have created; undefined where that cannot be seen. */
export async function candidates<R extends Route, Listed>(
  context: Context,
  { findLost, idOf, request, route }: Creation<R, Listed>,
  { before = [], request: asked }: Entry,
  ofEarlierRun: boolean,
): Promise<Reply<R>[] | undefined> {
  if (!findLost) return undefined;
  const { clock, run } = context;
  const known = new Set([...before, ...createdBy(run, route), ...createdForOthers(context, route)]);
  for (const pauseMs of findLost.listIsImmediate ? lookPausesMs : [0]) {
    await clock.sleep(pauseMs);
    const list = await findLost.list().catch((error) => {
      // The journal keeps the call of an earlier run until the service can be reached again.
      if (ofEarlierRun && isOutage(error)) throw error;
    });
    if (!list) return undefined;
    const fresh = list
      .flatMap((listed) => findLost.match(listed, nameIn(asked ?? request)) ?? [])
      .filter((reply) => !known.has(idOf(reply)));
    if (fresh.length > 0) return fresh;
  }
  return [];
}

function nameIn(request: unknown): string | undefined {
  return (request as { readonly name?: string }).name;
}

/** Objects that the journal has for other resources were not created by a call for this one. */
function createdForOthers({ client, urn = "" }: Context, { path }: Route): string[] {
  return allEntries()
    .filter(
      (entry) => carriedUrn(entry.urn) !== carriedUrn(urn) && isOf(entry, client) && entry.path === path,
    )
    .flatMap(({ id }) => id ?? []);
}

/** Whether the user has said that what is not known to be there is to be created: all of it, or by logical names. */
function mayCreateAgain(urn: string): boolean {
  const said = process.env.RECOMMENDER_CREATE_AGAIN;
  if (!saysYes(said)) return false;
  const names = said?.split(",").map((name) => name.trim()) ?? [];
  return /^(1|true|yes|on)$/i.test(said?.trim() ?? "") || names.includes(logicalName(urn));
}

/** Ids of what this run has created by a call. */
export function createdBy({ created }: Run, { path }: Route): Set<string> {
  const ids = created.get(path) ?? new Set<string>();
  created.set(path, ids);
  return ids;
}
