import { constants, existsSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { type FileHandle, open, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createDirectory, digest, stateDirectory } from "../../client/state-directory";
import { currentBackend, legacyBackendSpellings } from "../run/backend";
import { canonicalUrn, partsOf } from "../run/urn";
import { compareLineage, type JournalEntry } from "./journal-entry";

export type { JournalEntry } from "./journal-entry";

/** Time after which entries expire. */
export const retentionMs = 30 * 24 * 3_600_000;

/**
 * Returns the entries under the URN of a resource in this backend. The user's state directory has one file for each
 * create whose object is not in the stack's state yet. With `lineage`, entries of a different stack that had this name
 * are left out.
 */
export function entriesOf(urn: string, lineage?: string): JournalEntry[] {
  const own = entriesNear(urn).filter((entry) => isOfStack(entry, urn, lineage));
  return [...own, ...legacyDirectories(urn).flatMap(entriesIn)];
}

/**
 * Returns the entries of resources with the same type and name in other stacks of this backend. One of these stacks may
 * be this stack under a former name.
 */
export function entriesOfOtherStacks(urn: string, lineage?: string): JournalEntry[] {
  return entriesNear(urn).filter((entry) => !isOfStack(entry, urn, lineage));
}

function entriesNear(urn: string): JournalEntry[] {
  const backend = currentBackend();
  return entriesIn(directoryOf(urn)).filter((entry) => entry.backend === backend);
}

function isOfStack(entry: JournalEntry, urn: string, lineage: string | undefined): boolean {
  return canonicalUrn(entry.urn) === canonicalUrn(urn) && compareLineage(entry, lineage) !== "different";
}

/** Moves an entry of this stack to the current URN and lineage, if it has a former name or was written by 0.1.0. */
export async function moveEntry(
  entry: JournalEntry,
  urn: string,
  lineage: string | undefined,
): Promise<JournalEntry> {
  const moved = { ...entry, urn, backend: currentBackend(), ...(lineage && { lineage }) };
  const isSameFile = pathOf(entry) === fileOf(moved);
  if (isSameFile && entry.urn === urn) return entry;
  await write(moved);
  if (!isSameFile) await erase(entry);
  return moved;
}

function entriesIn(directory: string): JournalEntry[] {
  return filesIn(directory)
    .flatMap((file) => read(file) ?? [])
    .filter((entry) => !isExpired(entry));
}

/** Whether an entry is older than `retentionMs`. */
function isExpired({ at }: Pick<JournalEntry, "at">): boolean {
  return Date.now() - Date.parse(at) > retentionMs;
}

function filesIn(directory: string): string[] {
  return namesIn(directory)
    .filter((name) => name.endsWith(".json"))
    .map((name) => join(directory, name));
}

/**
 * Returns all entries on this machine. Unreadable files are skipped, because they must only stop their own resource.
 */
export function allEntries(): JournalEntry[] {
  return allFiles()
    .flatMap((file) => readable(file) ?? [])
    .filter((entry) => !isExpired(entry));
}

/** Returns the paths of unreadable journal files. */
export function unreadableFiles(): string[] {
  return allFiles().filter((file) => existsSync(file) && readable(file) === undefined);
}

function allFiles(): string[] {
  const all = stateDirectory("creations");
  return namesIn(all).flatMap((name) => filesIn(join(all, name)));
}

function readable(file: string): JournalEntry | undefined {
  try {
    return read(file);
  } catch {
    return undefined;
  }
}

/**
 * Records a create or its outcome, and flushes it to disk. The outcome is appended as a new line, and the last line
 * counts. Replacing the file instead would need a synchronous rename, which blocks the whole process.
 */
export async function write(given: JournalEntry): Promise<void> {
  const entry = { ...given, backend: given.backend ?? currentBackend() };
  const line = `${JSON.stringify(entry)}\n`;
  if (!(await appendLine(entry, line))) await createFile(entry, line);
  await eraseExpired();
}

async function appendLine(entry: JournalEntry, line: string): Promise<boolean> {
  const file = await open(fileOf(entry), constants.O_WRONLY | constants.O_APPEND).catch(undefinedIfAbsent);
  // Start with a newline: a crash may have left an incomplete last line.
  if (file) await flush(file, `\n${line}`);
  return file !== undefined;
}

async function createFile(entry: JournalEntry, line: string, tries = 3): Promise<void> {
  const [directory, file] = [directoryOf(entry.urn), fileOf(entry)];
  createDirectory(directory);
  // Flush before the rename: after a crash, the file is complete or absent.
  const draft = `${file}.${process.pid}`;
  const drafted = await open(draft, "w", 0o600).catch(undefinedIfAbsent);
  // If the directory is gone, another process has just erased its last entry and removed it.
  if (!drafted && tries > 1) return createFile(entry, line, tries - 1);
  if (!drafted) throw new Error(`other processes keep removing ${directory}`);
  await flush(drafted, line);
  renameSync(draft, file);
  // Flush the directory, or a crash may lose the file name. Windows cannot open directories and does not need it.
  if (process.platform !== "win32") await flush(await open(directory, "r"));
}

async function flush(file: FileHandle, text?: string): Promise<void> {
  try {
    if (text !== undefined) await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function undefinedIfAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

/** Erases an entry. Failures are ignored: an unwritable journal is reported when it is written. */
export async function erase(entry: JournalEntry): Promise<void> {
  await removeFile(pathOf(entry));
}

async function removeFile(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => {});
  // This fails, as intended, if the directory still has entries.
  await rmdir(dirname(file)).catch(() => {});
}

/**
 * Erases the entries whose ids are in the state, and returns the remaining ones. In a chain of jobs, each job was
 * submitted because the previous one failed. If the last job is in the state, the whole chain is erased.
 */
export async function eraseStored(
  urn: string,
  known: ReadonlySet<unknown>,
  lineage?: string,
): Promise<JournalEntry[]> {
  const entries = entriesOf(urn, lineage);
  const stored = entries.filter(({ id }) => id !== undefined && known.has(id));
  const isOver = (entry: JournalEntry) =>
    stored.includes(entry) ||
    (entry.derived && stored.some(({ at, lineage }) => entry.at <= at && entry.lineage === lineage));
  await Promise.all(entries.filter(isOver).map(erase));
  return entries.filter((entry) => !isOver(entry));
}

/** File of each entry that was read. Files of 0.1.0 have different paths. */
const readFrom = new WeakMap<JournalEntry, string>();

function read(file: string): JournalEntry | undefined {
  try {
    const entry = lastIn(readFileSync(file, "utf8"));
    readFrom.set(entry, file);
    return entry;
  } catch (error) {
    // Another process may have just erased the file.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(
      `cannot read the recovery journal ${file}: ${(error as Error).message}. Check in the service whether the last run ` +
        "created an object that is not in the state. Then run `recommender interrupted --forget` to clear the journal.",
    );
  }
}

/**
 * Parses the last complete line. If the last line is incomplete, the outcome is lost, but the line before it allows a
 * recovery.
 */
function lastIn(text: string): JournalEntry {
  const [first = "", ...later] = text.split("\n").filter((line) => line !== "");
  for (const line of later.reverse()) {
    try {
      return JSON.parse(line);
    } catch {}
  }
  return JSON.parse(first);
}

/**
 * Returns the journal directory of a resource. It is the same for all stacks and bindings, because a stack may be
 * renamed and its binding may change.
 */
function directoryOf(urn: string): string {
  const { type, name } = partsOf(canonicalUrn(urn));
  return join(stateDirectory("creations"), `resource-${digest([type, name])}`);
}

/**
 * Returns the directories in which 0.1.0 stored the entries of a resource, by URN and spelling of PULUMI_BACKEND_URL.
 */
function legacyDirectories(urn: string): string[] {
  return legacyBackendSpellings().map((spelled) =>
    join(stateDirectory("creations"), digest([canonicalUrn(urn), spelled])),
  );
}

function pathOf(entry: JournalEntry): string {
  return readFrom.get(entry) ?? fileOf(entry);
}

function fileOf({ urn, service, path, identity, backend, lineage, engine = "" }: JournalEntry): string {
  const { project, stack } = partsOf(urn);
  const name = digest([
    service,
    path,
    identity,
    engine,
    backend ?? currentBackend(),
    project,
    stack,
    lineage,
  ]);
  return join(directoryOf(urn), `${name}.json`);
}

/** Lists a directory. An unreadable directory counts as empty: the next write reports the problem. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

let hasErasedExpired = false;

/** Removes expired entries, once per process. */
async function eraseExpired(): Promise<void> {
  if (hasErasedExpired) return;
  hasErasedExpired = true;
  for (const file of allFiles()) {
    const entry = readable(file) ?? { at: writtenAt(file) };
    if (isExpired(entry)) await removeFile(file);
  }
}

/** Returns the modification time of a file, which shows the age of an unreadable entry. */
function writtenAt(file: string): string {
  return (statSync(file, { throwIfNoEntry: false })?.mtime ?? new Date()).toISOString();
}
