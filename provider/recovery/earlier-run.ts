import { hostname } from "node:os";
import type { Client } from "../../client/client";
import { digest } from "../../client/state-directory";
import type { Context } from "../run/context";
import { engineAddress, isEngineRunning, log } from "../run/engine";
import type { Run } from "../run/session";
import type { Properties, StateEntry } from "../run/state-entry";
import { idNamedByUser } from "./adoption";
import type { AnyCreation } from "./creation";
import { isDisowned } from "./disowned";
import { isAlive } from "./entry-writer";
import {
  entriesOf,
  entriesOfOtherStacks,
  erase,
  eraseStored,
  type JournalEntry,
  moveEntry,
  write,
} from "./journal";
import { entryOfNote, isOfNote } from "./killed-elsewhere";
import { lineageOf, ownerOf } from "./ownership";
import { lostCallOf } from "./unknown-creation";

/**
 * Time to wait for a process of an interrupted run that is still sending the same call: the maximum duration of a call.
 */
const maxWaitMs = 270_000;

/** Time for which idempotency keys are relied on. Services remember the response to a key for at least a day. */
const keysHoldMs = 20 * 3_600_000;
/** How far the clock of the machine that sent a call may be ahead. It uses up a part of the time that keys hold longer. */
const maxSkewMs = 3_600_000;

/** Create that an earlier run has recorded. */
export interface EarlierCall {
  readonly entry: JournalEntry;
  /** Whether this stack is proven to have sent it, with this account. */
  readonly isProven: boolean;
  /** Whether a different stack may have sent it and may still need the entry. */
  readonly mayBeOfOtherStack?: boolean;
  /** Whether only the engine's note in the state shows the call, because it was killed on another machine. */
  readonly isNoted?: boolean;
}

/** Create to find in the journal. */
interface Wanted {
  readonly path: string;
  readonly identities: readonly string[];
  /** Whether the key is derived from an earlier job. */
  readonly isDerived: boolean;
  /**
   * Whether the user has named the object with RECOMMENDER_ADOPT. Its arguments may differ, because the adoption
   * compares them.
   */
  readonly isNamed: boolean;
}

/**
 * Finds the same create in an earlier run, if the state does not contain its object yet. Searches the entries of this
 * stack, then entries that this stack may have written, then placeholders and the engine's notes in the state. Waits
 * for a process that is still sending the call, and reports creates with different arguments as orphaned.
 */
export async function findInterrupted(
  context: Context,
  { route: { path }, key, adopt }: AnyCreation,
  identities: readonly string[],
): Promise<EarlierCall | undefined> {
  const { clock, urn = "" } = context;
  const isDerived = key !== undefined;
  const isNamed = !adopt && !isDerived && idNamedByUser(urn) !== undefined;
  const wanted = { path, identities, isDerived, isNamed };
  const until = clock.now() + maxWaitMs;
  for (;;) {
    const call = await findCall(context, wanted);
    if (!call || call.isNoted) return call;
    const { entry, mayBeOfOtherStack } = call;
    if (entry.reply || !isAlive(entry) || clock.now() >= until)
      return mayBeOfOtherStack ? call : { ...call, entry: await moveIfPossible(entry, context) };
    await log.progress(
      urn,
      `waiting for process ${entry.pid} of an interrupted run, which is sending this call`,
    );
    await clock.sleep(200);
  }
}

async function findCall(context: Context, wanted: Wanted): Promise<EarlierCall | undefined> {
  const entry = await findOwnEntry(context, wanted);
  if (!entry) return findElsewhere(context, wanted);
  const owner = await ownerOf(entry, context);
  if (owner === "own" || (await lineageOf(entry, context)) === "same")
    return { entry, isProven: owner === "own" && !isOfNote(entry) };
  // The entry has the name of this stack, but it is unknown which stack wrote it.
  const elsewhere = await findElsewhere(context, wanted);
  if (elsewhere?.isProven || owner === "other") return elsewhere;
  return { entry, isProven: false, mayBeOfOtherStack: true };
}

async function findOwnEntry(context: Context, wanted: Wanted): Promise<JournalEntry | undefined> {
  const { urn = "", client, run } = context;
  let found: JournalEntry | undefined;
  let named: JournalEntry | undefined;
  for (const entry of entriesOf(urn, await run.initial.lineage({ urn }))) {
    const isSameCall = isOfService(entry, client) && entry.path === wanted.path && !isDisowned(entry, urn);
    if (!isSameCall || (await isOfRunningEngine(entry))) continue;
    if (wanted.identities.includes(entry.identity)) found = found?.reply ? found : entry;
    else if (wanted.isNamed && !entry.derived && !entry.reply) named = entry;
    else if (!entry.derived && !wanted.isDerived) await reportOrphan(context, entry);
  }
  return found ?? named;
}

async function findElsewhere(context: Context, wanted: Wanted): Promise<EarlierCall | undefined> {
  const { urn = "", client, run } = context;
  // Calls with a derived key need no search: the key is the same under every name of the stack, so the service
  // recognizes a repeated call.
  const isSameCreate = (entry: JournalEntry) =>
    !wanted.isDerived &&
    isOfService(entry, client) &&
    entry.path === wanted.path &&
    wanted.identities.includes(entry.identity) &&
    !isDisowned(entry, urn);
  const lineage = await run.initial.lineage({ urn });
  const former = await findWritten(context, entriesOfOtherStacks(urn, lineage).filter(isSameCreate));
  if (former?.isProven) return former;
  const entry = await entryOfPlaceholder(context, wanted);
  if (entry) return { entry, isProven: !isOfNote(entry) };
  return former ?? findNoted(context, wanted);
}

/**
 * Returns a create that was killed on another machine and that only the engine's note shows. With a derived key, a
 * second call is harmless.
 */
async function findNoted(
  context: Context,
  { path, identities, isDerived, isNamed }: Wanted,
): Promise<EarlierCall | undefined> {
  if (isDerived) return undefined;
  const call = { service: serviceIn(context.client), path, identity: identities[0] as string };
  const entry = await entryOfNote(context, call, isNamed);
  return entry && { entry, isProven: false, isNoted: true };
}

/** Returns the entry that this stack wrote before it was renamed, or the first entry that it may have written. */
async function findWritten(
  context: Context,
  entries: readonly JournalEntry[],
): Promise<EarlierCall | undefined> {
  let unproven: EarlierCall | undefined;
  for (const entry of entries) {
    const owner = await ownerOf(entry, context);
    if (owner === "own") return { entry, isProven: true };
    // If the writer is still running, it may be another stack that sends its own call.
    if (owner === "unproven" && !isAlive(entry))
      unproven ??= { entry, isProven: false, mayBeOfOtherStack: true };
  }
  return unproven;
}

/**
 * Moves an entry of this stack to its current URN. If the journal cannot be written, the entry is kept, and `record`
 * warns.
 */
async function moveIfPossible(entry: JournalEntry, { urn = "", run }: Context): Promise<JournalEntry> {
  const lineage = await run.initial.lineage({ urn });
  return moveEntry(entry, urn, lineage).catch(() => entry);
}

/**
 * Returns the create that a placeholder in the state represents. Another machine wrote the placeholder, or this one
 * before its journal was lost. A create with different arguments is reported as orphaned and not returned.
 */
async function entryOfPlaceholder(context: Context, wanted: Wanted): Promise<JournalEntry | undefined> {
  const { run, urn = "", client } = context;
  const lost = lostCallOf(run.placeholders.get(urn));
  if (!lost || run.resolvedCalls.has(lost.key)) return undefined;
  if (!wanted.isNamed && !wanted.identities.includes(lost.identity)) {
    const what = `may have created an object with different arguments at ${lost.at} (${wanted.path})`;
    await log.warn(urn, `an earlier run ${what}; if so, that object is orphaned`);
    return undefined;
  }
  const lineage = await run.initial.lineage({ urn });
  const entry = {
    ...lost,
    urn,
    ...(lineage && { lineage }),
    service: serviceIn(client),
    path: wanted.path,
    derived: false,
    pid: process.pid,
    host: hostname(),
  };
  await record(context, entry);
  return entry;
}

/** Records a create in the journal. If that fails, the run warns and continues without this protection. */
export async function record({ urn, run }: Context, entry: JournalEntry): Promise<void> {
  try {
    await write(entry);
  } catch (error) {
    const warning =
      `cannot write the recovery journal (${(error as Error).message}): if this run is killed, objects may be lost or ` +
      "created twice. Set XDG_STATE_HOME to a writable directory.";
    await run.warnOnce(urn, warning, "journal");
  }
}

/** Describes the fate of an object that a create of an interrupted run has created, or may have created. */
function orphaned({ id }: JournalEntry): string {
  return `${id === undefined ? "if so, " : ""}that object is orphaned, not deleted`;
}

/** Reports an object that an interrupted run created with different arguments. */
async function reportOrphan({ urn }: Context, entry: JournalEntry): Promise<void> {
  await log.warn(
    urn,
    `an interrupted run ${describeOutcome(entry)} with different arguments; ${orphaned(entry)}`,
  );
  await erase(entry);
}

/**
 * For a resource that is deleted or has adopted an object: warns about objects that interrupted runs may have left
 * behind, and erases their journal entries.
 */
export async function reportOrphans({ urn = "", client, run }: Context, adoptedId?: string): Promise<void> {
  for (const entry of entriesOf(urn, await run.initial.lineage({ urn }))) {
    const isOwn = entry.id !== undefined && run.created.get(entry.path)?.has(entry.id);
    if (isOwn || !isOfService(entry, client) || (await isOfRunningEngine(entry))) continue;
    // The adopted object may be the result of the call without a response.
    const isOther = entry.id ? entry.id !== adoptedId : adoptedId === undefined;
    if (isOther) await log.warn(urn, `an interrupted run ${describeOutcome(entry)}; ${orphaned(entry)}`);
    await erase(entry);
  }
}

/** Erases the entries whose ids are in the state. Returns the remaining creates of killed runs for the resource. */
export async function eraseStoredIn(
  entry: StateEntry,
  { __urn, ...state }: Properties,
  { initial }: Pick<Run, "initial">,
): Promise<JournalEntry[]> {
  const lineage = await initial.lineage(entry);
  if (__urn === undefined) return [];
  const others = await eraseStored(__urn, new Set([entry.id, ...Object.values(state)]), lineage);
  return others.filter((entry) => !entry.derived && !isAlive(entry));
}

/** Returns a warning about objects of killed runs that the program no longer declares. */
export function orphanWarning(entries: readonly JournalEntry[]): string {
  const what = entries.map(describeOutcome).join(" and ");
  return `a killed run ${what}, which the program no longer declares; run \`recommender interrupted\` for details`;
}

/** Describes the outcome of a create. */
export function describeOutcome({ id, at, path }: JournalEntry): string {
  return id ? `created ${id}` : `may have created an object at ${at} (${path})`;
}

/**
 * Whether an entry is recent enough for the service to know its key. An entry from the future does not show its age: a
 * clock was wrong, so the service may have forgotten the key, and would run the call again.
 */
export function isRecent({ at }: JournalEntry, { clock }: Context): boolean {
  const ageMs = clock.now() - Date.parse(at);
  return ageMs > -maxSkewMs && ageMs < keysHoldMs;
}

/** Returns the id of a service in the journal. It is a digest, because the address may be secret. */
export function serviceIn(client: Client): string {
  return digest(client.service);
}

/** Whether an entry belongs to the client's service. Older versions recorded the address. */
export function isOfService({ service }: JournalEntry, client: Client): boolean {
  return [serviceIn(client), client.service, client.baseUrl].includes(service);
}

/**
 * Whether a different engine that is still running wrote an entry. A stack has one engine at a time, so the entry
 * belongs to another stack with the same name.
 */
async function isOfRunningEngine(entry: JournalEntry): Promise<boolean> {
  return isAlive(entry) && entry.engine !== engineAddress() && (await isEngineRunning(entry.engine));
}
