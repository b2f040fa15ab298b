import { hostname } from "node:os";
import type { Client } from "../../client/client";
import { isEnabled } from "../../client/settings";
import type { Route } from "../../contract";
import { accountOf } from "../run/account";
import { lineageOf } from "../run/backend";
import type { Context } from "../run/context";
import { engineAddress, isEngineRunning, log } from "../run/engine";
import type { Properties } from "../run/state-entry";
import { partsOf } from "../run/urn";
import { idNamedByUser } from "./adoption";
import type { Creation } from "./creation";
import { isDisowned } from "./disowned";
import { ownerOfEntry } from "./entry-owner";
import {
  digest,
  entriesOf,
  entriesOfOtherStacks,
  erase,
  eraseStored,
  isAlive,
  type JournalEntry,
  moveEntry,
  write,
} from "./journal";
import { lostCallOf } from "./unknown-creation";

/** How long to wait for a process of an interrupted run that is still making the same call: as long as a call may take. */
const orphanPatienceMs = 270_000;

/** Services keep the responses under a key for a day at least; we do not count on more. */
const keysHoldMs = 20 * 3_600_000;

/** An entry that an earlier run left. */
export interface EarlierCall {
  readonly entry: JournalEntry;
  /** Whether it is proven to be of this stack and this account. */
  readonly isProven: boolean;
  /** Whether it was written under the name of another stack, and nothing proves that this stack had that name. */
  readonly mayBeOfOtherStack?: boolean;
}

/** What an earlier run began and did not bring into the state; waits for a process that is still making the call. */
export async function findInterrupted<R extends Route, Listed>(
  context: Context,
  creation: Creation<R, Listed>,
  identities: readonly string[],
): Promise<EarlierCall | undefined> {
  const { clock, urn = "", client } = context;
  const { path } = creation.route;
  const until = clock.now() + orphanPatienceMs;
  // An object that the user names is compared with what is declared now, when it is adopted.
  const isNamed = !creation.adopt && !creation.key && idNamedByUser(urn) !== undefined;
  for (;;) {
    let found: JournalEntry | undefined;
    let lost: JournalEntry | undefined;
    for (const entry of entriesOf(urn)) {
      if (!isOfService(entry, client) || entry.path !== path || (await isOfRunningEngine(entry))) continue;
      if (identities.includes(entry.identity)) found = found?.reply ? found : entry;
      else if (isNamed && !entry.derived && !entry.reply) lost = entry;
      else if (!entry.derived && !creation.key) await reportOrphan(context, entry);
    }
    found ??= lost;
    if (!found) {
      // A call with a derived key has the same key under every name of the stack, so the service recognises it.
      const isAlike = (entry: JournalEntry) =>
        !creation.key &&
        isOfService(entry, client) &&
        entry.path === path &&
        identities.includes(entry.identity) &&
        !isAlive(entry) &&
        !isDisowned(entry, urn);
      const stray = await findUnderFormerName(context, entriesOfOtherStacks(urn).filter(isAlike));
      if (stray?.isProven) return stray;
      const inState = await entryOfPlaceholder(context, creation, isNamed ? undefined : identities);
      return inState ? { entry: inState, isProven: true } : stray;
    }
    if (found.reply || !isAlive(found) || clock.now() >= until) {
      const account = accountIn(found, context);
      return {
        entry: await moveIfPossible(found, urn),
        isProven: ownerOfEntry({ isOfStack: true, account }) === "own",
      };
    }
    await log.progress(urn, `process ${found.pid} of an interrupted run is still making this call; waiting`);
    await clock.sleep(200);
  }
}

/**
 * The entry among those of other stacks that this stack wrote before it was renamed. If there is no such entry, the first
 * one that it may have written.
 */
async function findUnderFormerName(
  context: Context,
  strays: readonly JournalEntry[],
): Promise<EarlierCall | undefined> {
  const { urn = "", run } = context;
  const { project, stack } = partsOf(urn);
  const own = lineageOf(stack);
  let unproven: EarlierCall | undefined;
  for (const entry of strays) {
    const known = own !== undefined && entry.lineage !== undefined;
    const lineage = known ? (own === entry.lineage ? "same" : "different") : "unknown";
    if (lineage === "different") continue;
    const writer = partsOf(entry.urn);
    const stacks = await run.stackState.stacks(project);
    const stackExists = stacks ? stacks.has(`${writer.project}/${writer.stack}`) : "unseen";
    const account = accountIn(entry, context);
    const owner = ownerOfEntry({ isOfStack: false, stackExists, lineage, account });
    if (owner === "own") return { entry: await moveIfPossible(entry, urn), isProven: true };
    if (owner === "unproven") unproven ??= { entry, isProven: false, mayBeOfOtherStack: true };
  }
  return unproven;
}

/** If the journal cannot be written, the entry stays where it is; `record` warns of that. */
function moveIfPossible(entry: JournalEntry, urn: string): Promise<JournalEntry> {
  return moveEntry(entry, urn).catch(() => entry);
}

/** Whether an entry was written with the key of this run; the user may say that the account is the same. */
function accountIn({ account }: JournalEntry, { settings }: Context): "same" | "unproven" {
  const isSame = account === undefined || account === accountOf(settings);
  return isSame || isEnabled(process.env.RECOMMENDER_SERVICE_MOVED) ? "same" : "unproven";
}

/**
 * The call that, according to the state, got no response: on another machine, or before the journal was lost. A call with
 * other identities than these is reported and left out.
 */
async function entryOfPlaceholder<R extends Route, Listed>(
  context: Context,
  { route }: Creation<R, Listed>,
  identities: readonly string[] | undefined,
): Promise<JournalEntry | undefined> {
  const { run, urn = "", client } = context;
  const lost = lostCallOf(run.placeholders.get(urn));
  if (!lost || run.resolvedCalls.has(lost.key)) return undefined;
  if (identities && !identities.includes(lost.identity)) {
    const what = `may have created one at ${lost.at} by ${route.path} with different arguments`;
    await log.warn(urn, `an earlier run ${what}; if so, it is orphaned`);
    return undefined;
  }
  const entry = {
    ...{ urn, service: serviceIn(client), path: route.path, identity: lost.identity, key: lost.key },
    ...{ derived: false, at: lost.at, pid: process.pid, host: hostname() },
  };
  await record(context, entry);
  return entry;
}

/** Enters a creation into the journal; where that fails, the work goes on without the protection. */
export async function record({ urn, run }: Context, entry: JournalEntry): Promise<void> {
  try {
    await write(entry);
  } catch (error) {
    if (run.warnedOfJournal) return;
    run.warnedOfJournal = true;
    await log.warn(
      urn,
      `cannot write the recovery journal (${(error as Error).message}): after a kill, what was created may be lost or ` +
        "created twice. Set XDG_STATE_HOME to a folder that can be written to.",
    );
  }
}

/** What an interrupted run created with other arguments than declared now is orphaned. */
async function reportOrphan({ urn }: Context, entry: JournalEntry): Promise<void> {
  await log.warn(
    urn,
    `an interrupted run ${describeOutcome(entry)} with different arguments; it is orphaned, not deleted`,
  );
  await erase(entry);
}

/** What interrupted runs began for a resource that is deleted, or that has adopted something else. */
export async function reportOrphans({ urn = "", client, run }: Context, adoptedId?: string): Promise<void> {
  for (const entry of entriesOf(urn)) {
    const isOwn = entry.id !== undefined && run.created.get(entry.path)?.has(entry.id);
    if (isOwn || !isOfService(entry, client) || (await isOfRunningEngine(entry))) continue;
    // The adopted object may be what a call without a response created.
    const isOther = entry.id ? entry.id !== adoptedId : adoptedId === undefined;
    if (isOther)
      await log.warn(urn, `an interrupted run ${describeOutcome(entry)}; it is orphaned, not deleted`);
    await erase(entry);
  }
}

/** The state is seen to hold what was created; what else killed runs began for the resource. */
export async function eraseStoredIn(id: string, { __urn, ...state }: Properties): Promise<JournalEntry[]> {
  if (__urn === undefined) return [];
  const others = await eraseStored(__urn, new Set([id, ...Object.values(state)]));
  return others.filter((entry) => !entry.derived && !isAlive(entry));
}

/** What killed runs began that the program does not declare, in words. */
export function orphanWarning(entries: readonly JournalEntry[]): string {
  const what = entries.map(describeOutcome).join(" and ");
  return `a run that was killed ${what}, which the program no longer declares; see \`recommender interrupted\``;
}

/** The outcome of a creation, in words that help to find it. */
export function describeOutcome({ id, at, path }: JournalEntry): string {
  return id ? `created ${id}` : `may have created one at ${at} by ${path}`;
}

/** Whether the service can be counted on to know the key of an entry. */
export function isRecent({ at }: JournalEntry, { clock }: Context): boolean {
  return clock.now() - Date.parse(at) < keysHoldMs;
}

/** What an entry remembers a service by: its address may be secret. */
export function serviceIn(client: Client): string {
  return digest(client.service);
}

/** Whether an entry is about the service of a client; older versions recorded its address. */
export function isOfService({ service }: JournalEntry, client: Client): boolean {
  return [serviceIn(client), client.service, client.baseUrl].includes(service);
}

/** One engine at a time works on a stack: one that is at work elsewhere has a stack of its own, of the same name. */
async function isOfRunningEngine(entry: JournalEntry): Promise<boolean> {
  return isAlive(entry) && entry.engine !== engineAddress() && (await isEngineRunning(entry.engine));
}
