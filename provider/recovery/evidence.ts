import { isOutage } from "../../client/errors";
import { isEnabled } from "../../client/settings";
import type { Reply, Route } from "../../contract";
import type { Context } from "../run/context";
import type { Run } from "../run/session";
import { mayBeSameService } from "../run/state-entry";
import { canonicalUrn, logicalName } from "../run/urn";
import { idNamedByUser } from "./adoption";
import type { Creation } from "./creation";
import type { CreationEvidence } from "./decision";
import { type EarlierCall, isOfService, isRecent } from "./earlier-run";
import { allEntries, type JournalEntry } from "./journal";

/** Pauses between the looks at a list in which the object of a call of this run may turn up. */
const lookPausesMs = [0, 2_000, 8_000];

/** What is known when a run begins with a call. */
export async function evidenceOf<R extends Route, Listed>(
  context: Context,
  creation: Creation<R, Listed>,
  earlier: EarlierCall | undefined,
): Promise<CreationEvidence> {
  if (!earlier) return { call: "none" };
  const { entry, isProven } = earlier;
  const isNamed = idNamedByUser(context.urn) !== undefined;
  const createAgain = mayCreateAgain(context.urn ?? "");
  const reply = entry.reply as Reply<R> | undefined;
  if (!isProven) return { call: reply ? "acknowledged" : "lost", isProven, isNamed, createAgain };
  if (reply) {
    const isStored = await isInState(context, entry);
    return { call: "acknowledged", isProven, isStored, exists: (await creation.isThere?.(reply)) ?? true };
  }
  const isDecided = isNamed || createAgain;
  const keyHolds = !isDecided && isRecent(entry, context) && (await context.client.honoursKeys());
  return { call: "lost", isProven, isNamed, createAgain, keyHolds };
}

/**
 * Whether the state holds what an entry created. A replacement that is asked for is not compared with the state first, so
 * nothing has erased the entry if nobody heard that the state has the id.
 */
async function isInState({ urn = "", run }: Context, { id, derived }: JournalEntry): Promise<boolean> {
  if (derived) return false;
  const entries = await run.stackState.entriesNamed(urn);
  return entries.some((entry) => entry.id === id);
}

/** Objects that matched before this run created anything are no candidates; not needed if keys are honoured. */
export async function matchesBefore<R extends Route, Listed>(
  { client, run }: Context,
  { findLost, idOf, request, route }: Creation<R, Listed>,
): Promise<string[] | undefined> {
  if (!findLost || (await client.honoursKeys())) return undefined;
  let list = run.listedBefore.get(findLost.name) as Promise<readonly Listed[]> | undefined;
  if (!list) {
    list = findLost.list();
    list.catch(() => run.listedBefore.delete(findLost.name));
    run.listedBefore.set(findLost.name, list);
  }
  const ids = (await list).flatMap((listed) => findLost.match(listed, nameIn(request)) ?? []).map(idOf);
  return [...ids, ...createdBy(run, route)];
}

/** What to show the user who must decide about a lost call. */
export interface Candidates {
  readonly ids: readonly string[];
  /** Stacks whose state could not be read: one of them may hold a candidate. */
  readonly unread: readonly string[];
}

/**
 * Objects that a lost call may have created, without those that a stack of the backend holds. The list may have only a
 * page of them, or show them late, and others create objects too: a candidate is never adopted unasked.
 */
export async function candidates<R extends Route, Listed>(
  context: Context,
  creation: Creation<R, Listed>,
  entry: JournalEntry,
  ofEarlierRun: boolean,
): Promise<Candidates> {
  if (entry.id !== undefined) return { ids: [entry.id], unread: [] };
  const fresh = await listedSince(context, creation, entry, ofEarlierRun);
  if (fresh.length === 0) return { ids: [], unread: [] };
  const { entries, unread } = await context.run.stackState.allStacks();
  const isHeld = (id: string) =>
    entries.some(
      (entry) => entry.id === id && mayBeSameService(entry, { service: context.settings.baseUrl }),
    );
  const objectIds = creation.findLost?.objectId ?? ((id: string) => id);
  return { ids: fresh.map(objectIds).filter((id) => !isHeld(id)), unread };
}

async function listedSince<R extends Route, Listed>(
  context: Context,
  { findLost, idOf, request, route }: Creation<R, Listed>,
  { before = [], request: asked }: JournalEntry,
  ofEarlierRun: boolean,
): Promise<string[]> {
  if (!findLost) return [];
  const { clock, run } = context;
  const known = new Set([...before, ...createdBy(run, route), ...createdForOthers(context, route)]);
  for (const pauseMs of ofEarlierRun ? [0] : lookPausesMs) {
    await clock.sleep(pauseMs);
    const list = await findLost.list().catch((error) => {
      // The journal keeps the call of an earlier run until the service can be reached again.
      if (ofEarlierRun && isOutage(error)) throw error;
    });
    const fresh = (list ?? [])
      .flatMap((listed) => findLost.match(listed, nameIn(asked ?? request)) ?? [])
      .map(idOf)
      .filter((id) => !known.has(id));
    if (fresh.length > 0 || !list) return fresh;
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
      (entry) =>
        canonicalUrn(entry.urn) !== canonicalUrn(urn) && isOfService(entry, client) && entry.path === path,
    )
    .flatMap(({ id }) => id ?? []);
}

/** Whether the user has said that what is not known to be there is to be created: all of it, or by logical names. */
function mayCreateAgain(urn: string): boolean {
  const said = process.env.RECOMMENDER_CREATE_AGAIN;
  if (!isEnabled(said)) return false;
  const names = said?.split(",").map((name) => name.trim()) ?? [];
  return /^(1|true|yes|on)$/i.test(said?.trim() ?? "") || names.includes(logicalName(urn));
}

/** Ids of what this run has created by a call. */
export function createdBy({ created }: Run, { path }: Route): Set<string> {
  const ids = created.get(path) ?? new Set<string>();
  created.set(path, ids);
  return ids;
}
