import { isOutage } from "../../client/errors";
import { isEnabled } from "../../client/settings";
import type { Route } from "../../contract";
import type { Context } from "../run/context";
import { sharedPromise } from "../run/promises";
import type { Run } from "../run/session";
import { mayBeSameService } from "../run/state-entry";
import { canonicalUrn, logicalName } from "../run/urn";
import { idNamedByUser, namesToCreateAgain } from "./adoption";
import type { AnyCreation } from "./creation";
import type { CreationEvidence } from "./decision";
import { type EarlierCall, isOfService, isRecent } from "./earlier-run";
import { allEntries, type JournalEntry } from "./journal";

/** Pauses before each read of a list, because a new object may appear in it late. */
const pausesMs = [0, 2_000, 8_000];

/** Collects the facts about a create at the start of a run. */
export async function evidenceOf(
  context: Context,
  creation: AnyCreation,
  earlier: EarlierCall | undefined,
): Promise<CreationEvidence> {
  if (!earlier) return { call: "none" };
  const { entry, isProven } = earlier;
  const isNamed = idNamedByUser(context.urn) !== undefined;
  const createAgain = mayCreateAgain(context.urn ?? "");
  const { reply } = entry;
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
 * Whether the state contains the id of an entry. Usually `diff` erases such an entry, but a forced replacement has no
 * `diff`.
 */
async function isInState({ urn = "", run }: Context, { id, derived }: JournalEntry): Promise<boolean> {
  if (derived) return false;
  const entries = await run.stackState.entriesNamed(urn);
  return entries.some((entry) => entry.id === id);
}

/**
 * Returns the ids of matching objects that existed before the call, so they are not candidates. Undefined if the
 * service honours keys, because candidates are then not needed.
 */
export async function matchesBefore(
  { client, run }: Context,
  { findLost, idOf, request, route }: AnyCreation,
): Promise<string[] | undefined> {
  if (!findLost || (await client.honoursKeys())) return undefined;
  const list = await sharedPromise(run.listedBefore, findLost.name, () => findLost.list());
  const ids = list.flatMap((listed) => findLost.match(listed, request.name) ?? []).map(idOf);
  return [...ids, ...createdBy(run, route)];
}

/** Objects that a lost call may have created, for the question to the user. */
export interface Candidates {
  readonly ids: readonly string[];
  /** Stacks with unreadable state, which may reference a candidate. */
  readonly unread: readonly string[];
}

/**
 * Returns objects that a lost call may have created and that no stack of the backend references. The list may be paged
 * or out of date, and somebody else may have created them, so a candidate is never adopted without the user's decision.
 */
export async function candidates(
  context: Context,
  creation: AnyCreation,
  entry: JournalEntry,
  ofEarlierRun: boolean,
): Promise<Candidates> {
  if (entry.id !== undefined) return { ids: [entry.id], unread: [] };
  const fresh = await listedSince(context, creation, entry, ofEarlierRun);
  if (fresh.length === 0) return { ids: [], unread: [] };
  const { entries, unread } = await context.run.stackState.allStacks();
  const isReferenced = (id: string) =>
    entries.some(
      (entry) => entry.id === id && mayBeSameService(entry, { service: context.settings.baseUrl }),
    );
  const objectIds = creation.findLost?.objectId ?? ((id: string) => id);
  return { ids: fresh.map(objectIds).filter((id) => !isReferenced(id)), unread };
}

async function listedSince(
  context: Context,
  { findLost, idOf, request, route }: AnyCreation,
  { before = [], request: sent }: JournalEntry,
  ofEarlierRun: boolean,
): Promise<string[]> {
  if (!findLost) return [];
  const { clock, run } = context;
  const known = new Set([...before, ...createdBy(run, route), ...createdForOthers(context, route)]);
  for (const pauseMs of ofEarlierRun ? [0] : pausesMs) {
    await clock.sleep(pauseMs);
    const list = await findLost.list().catch((error) => {
      // Fail during an outage: the journal keeps the call for the next run.
      if (ofEarlierRun && isOutage(error)) throw error;
    });
    const fresh = (list ?? [])
      .flatMap((listed) => findLost.match(listed, (sent ?? request).name as string | undefined) ?? [])
      .map(idOf)
      .filter((id) => !known.has(id));
    if (fresh.length > 0 || !list) return fresh;
  }
  return [];
}

/** Returns the ids that the journal attributes to other resources. */
function createdForOthers({ client, urn = "" }: Context, { path }: Route): string[] {
  return allEntries()
    .filter(
      (entry) =>
        canonicalUrn(entry.urn) !== canonicalUrn(urn) && isOfService(entry, client) && entry.path === path,
    )
    .flatMap(({ id }) => id ?? []);
}

/** Whether RECOMMENDER_CREATE_AGAIN applies to a resource: it is `1`, or lists the logical name. */
function mayCreateAgain(urn: string): boolean {
  const value = process.env.RECOMMENDER_CREATE_AGAIN;
  if (!isEnabled(value)) return false;
  return /^(1|true|yes|on)$/i.test(value?.trim() ?? "") || namesToCreateAgain().includes(logicalName(urn));
}

/** Returns the ids of the objects that this run has created with a call. The set is updated as the run creates more. */
export function createdBy({ created }: Run, { path }: Route): Set<string> {
  const ids = created.get(path) ?? new Set<string>();
  created.set(path, ids);
  return ids;
}
