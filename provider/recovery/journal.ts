import { createHash } from "node:crypto";
import { constants, existsSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { type FileHandle, open, rm, rmdir } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { isRunning } from "../../client/process";
import { createDirectory, stateDirectory } from "../../client/state-directory";
import { currentBackend, legacyBackendSpellings, lineageOf } from "../run/backend";
import { canonicalUrn, partsOf } from "../run/urn";

/** A call that creates, recorded before it is sent. */
export interface JournalEntry {
  /** Whose it is: the resource in its stack. */
  readonly urn: string;
  /** A digest of what the service is remembered by; its address, in files of older versions. */
  readonly service: string;
  /** The address of the service for people; absent if it is secret. */
  readonly address?: string;
  /** The backend of the stack in its canonical form; absent in files of 0.1.0. */
  readonly backend?: string;
  /** Survives a rename of the stack, see `lineageOf`. */
  readonly lineage?: string;
  /** A fingerprint of the developer's key; absent in files of 0.1.0 and for embedded services. */
  readonly account?: string;
  readonly path: string;
  /** What makes it the same creation when it is tried again. */
  readonly identity: string;
  /** The idempotency key under which the call is sent, each time it is sent. */
  readonly key: string;
  /** Whether the key follows from an earlier job, so that it is the same on any machine. */
  readonly derived: boolean;
  /**
   * The name in a request that is the same creation under any name: a repeated call must carry the first one. The rest
   * is what is declared, and is not kept here: it may be secret.
   */
  readonly request?: Readonly<Record<string, unknown>>;
  readonly at: string;
  readonly pid: number;
  readonly host: string;
  /** Address of the engine that the process worked for. */
  readonly engine?: string;
  /** Ids that matched before the call: they are no candidates if the response is lost. */
  readonly before?: readonly string[];
  /** Id of what was created; absent while that is unknown. */
  readonly id?: string;
  /** The fields of the reply that the request leaves open. */
  readonly reply?: Readonly<Record<string, unknown>>;
}

/** Entries older than this are dropped. */
export const retentionMs = 30 * 24 * 3_600_000;

/** A short name for any value. */
export function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}

/**
 * The entries of a resource of this stack. The user's state folder has a file for each creation that is not in the state
 * yet. The backend is part of an entry: stacks of the same name in two backends have nothing in common.
 */
export function entriesOf(urn: string): JournalEntry[] {
  const backend = currentBackend();
  const isOwn = (entry: JournalEntry) =>
    entry.backend === backend && canonicalUrn(entry.urn) === canonicalUrn(urn);
  return [...entriesIn(folderOf(urn)).filter(isOwn), ...legacyFolders(urn).flatMap(entriesIn)];
}

/** Entries of a resource of the same type and name in other stacks of this backend: one may be this stack's old name. */
export function entriesOfOtherStacks(urn: string): JournalEntry[] {
  const backend = currentBackend();
  return entriesIn(folderOf(urn)).filter(
    (entry) => entry.backend === backend && canonicalUrn(entry.urn) !== canonicalUrn(urn),
  );
}

/** Where an entry that is written now belongs to. */
export function placeOf(urn: string): Pick<JournalEntry, "backend" | "lineage"> {
  const lineage = lineageOf(partsOf(urn).stack);
  return { backend: currentBackend(), ...(lineage && { lineage }) };
}

/** Moves an entry of a former name of the stack, or of 0.1.0, to where entries of this resource are looked for. */
export async function moveEntry(entry: JournalEntry, urn: string): Promise<JournalEntry> {
  if (entry.backend !== undefined && entry.urn === urn) return entry;
  const { lineage: _, ...rest } = entry;
  const moved = { ...rest, urn, ...placeOf(urn) };
  await write(moved);
  if (entry.backend === undefined || canonicalUrn(entry.urn) !== canonicalUrn(urn)) await erase(entry);
  return moved;
}

function entriesIn(folder: string): JournalEntry[] {
  return filesIn(folder)
    .flatMap((file) => read(file) ?? [])
    .filter((entry) => !isExpired(entry));
}

/** Whether an entry is too old to be kept. The age of its folder says nothing: all stacks share it. */
function isExpired({ at }: Pick<JournalEntry, "at">): boolean {
  return Date.now() - Date.parse(at) > retentionMs;
}

function filesIn(folder: string): string[] {
  return namesIn(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => join(folder, name));
}

/**
 * Everything that interrupted runs began on this machine and no later run has come back to. A file that cannot be read
 * is left out: only the resource that it is about must stop for it.
 */
export function allEntries(): JournalEntry[] {
  return allFiles()
    .flatMap((file) => readable(file) ?? [])
    .filter((entry) => !isExpired(entry));
}

/** Files among them that cannot be read. */
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
 * Records that a call is about to be sent, or its outcome; only the disk is waited for, by many at once. What is recorded
 * last counts: it is a line of its own, because a file that is replaced is waited for by the whole process.
 */
export async function write(given: JournalEntry): Promise<void> {
  const entry = given.backend === undefined ? { ...given, ...placeOf(given.urn) } : given;
  const line = `${JSON.stringify(entry)}\n`;
  if (!(await appendLine(entry, line))) await createFile(entry, line);
  await eraseExpired();
}

async function appendLine(entry: JournalEntry, line: string): Promise<boolean> {
  const file = await open(fileOf(entry), constants.O_WRONLY | constants.O_APPEND).catch(undefinedIfAbsent);
  // What a machine that went down left without an end is a line of its own.
  if (file) await flush(file, `\n${line}`);
  return file !== undefined;
}

async function createFile(entry: JournalEntry, line: string, tries = 3): Promise<void> {
  const [folder, file] = [folderOf(entry.urn), fileOf(entry)];
  createDirectory(folder);
  // Flushed before it gets its name: after a machine goes down the file is whole or not there.
  const draft = `${file}.${process.pid}`;
  const drafted = await open(draft, "w", 0o600).catch(undefinedIfAbsent);
  // The last entry of before was erased at this moment, and its folder with it.
  if (!drafted && tries > 1) return createFile(entry, line, tries - 1);
  if (!drafted) throw new Error(`${folder} cannot be kept`);
  await flush(drafted, line);
  renameSync(draft, file);
  // A name is on the disk only when its folder is; Windows cannot open a folder, and does not need to.
  if (process.platform !== "win32") await flush(await open(folder, "r"));
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

/** Erases an entry. Where nothing can be erased, nothing could be recorded either, which is reported then. */
export async function erase(entry: JournalEntry): Promise<void> {
  await removeFile(readFrom.get(entry) ?? fileOf(entry));
}

async function removeFile(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => {});
  // The folder stays if it has another entry.
  await rmdir(dirname(file)).catch(() => {});
}

/** Whether the process that wrote an entry is another one and lives: the run goes on, or what is left of it. */
export function isAlive({ pid, host }: JournalEntry): boolean {
  return host === hostname() && pid !== process.pid && isRunning(pid);
}

/** A call takes at most so long, with all its retries. */
const callMs = 5 * 60_000;

/** Whether the process that wrote an entry may live. On another machine that cannot be seen: its call may be under way. */
export function mayBeRunning(entry: JournalEntry): boolean {
  const isRecent = Date.now() - Date.parse(entry.at) < callMs;
  return entry.host === hostname() ? isAlive(entry) : isRecent;
}

/**
 * Erases the creations whose results the state of the resource holds, and returns the others. With the last of
 * a chain of jobs, each submitted because the one before it failed, the whole chain is forgotten.
 */
export async function eraseStored(urn: string, known: ReadonlySet<unknown>): Promise<JournalEntry[]> {
  const entries = entriesOf(urn);
  const held = entries.filter(({ id }) => id !== undefined && known.has(id));
  const isOver = (entry: JournalEntry) =>
    held.includes(entry) || (entry.derived && held.some(({ at }) => entry.at <= at));
  await Promise.all(entries.filter(isOver).map(erase));
  return entries.filter((entry) => !isOver(entry));
}

/** The files that entries were read from: those of 0.1.0 lie elsewhere. */
const readFrom = new WeakMap<JournalEntry, string>();

function read(file: string): JournalEntry | undefined {
  try {
    const entry = lastIn(readFileSync(file, "utf8"));
    readFrom.set(entry, file);
    return entry;
  } catch (error) {
    // Another process may have erased it in between.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(
      `cannot read the recovery journal ${file}: ${(error as Error).message}. See in the service whether the last run ` +
        "created something that the state does not hold, and clear it with `recommender interrupted --forget`.",
    );
  }
}

/** An outcome that was cut off is as good as unknown: what is recorded before it says how it is found out. */
function lastIn(text: string): JournalEntry {
  const [first = "", ...later] = text.split("\n").filter((line) => line !== "");
  for (const line of later.reverse()) {
    try {
      return JSON.parse(line);
    } catch {}
  }
  return JSON.parse(first);
}

/** One folder for all stacks: a stack may be renamed between a kill and the next run, and bindings may change. */
function folderOf(urn: string): string {
  const { type, name } = partsOf(canonicalUrn(urn));
  return join(stateDirectory("creations"), `resource-${digest([type, name])}`);
}

/** Where 0.1.0 kept the entries of a resource: under its URN and the variable PULUMI_BACKEND_URL as it was spelled. */
function legacyFolders(urn: string): string[] {
  return legacyBackendSpellings().map((spelled) =>
    join(stateDirectory("creations"), digest([canonicalUrn(urn), spelled])),
  );
}

function fileOf({ urn, service, path, identity, backend, engine = "" }: JournalEntry): string {
  const { project, stack } = partsOf(urn);
  const name = digest([service, path, identity, engine, backend ?? currentBackend(), project, stack]);
  return join(folderOf(urn), `${name}.json`);
}

/** A folder that cannot be read holds nothing for us; that nothing can be written to it is reported when it is tried. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

let hasErasedExpired = false;

/** Removes entries that are too old, once for each process. */
async function eraseExpired(): Promise<void> {
  if (hasErasedExpired) return;
  hasErasedExpired = true;
  for (const file of allFiles()) {
    const entry = readable(file) ?? { at: writtenAt(file) };
    if (isExpired(entry)) await removeFile(file);
  }
}

/** When a file was last written: the age of an entry that cannot be read. */
function writtenAt(file: string): string {
  return (statSync(file, { throwIfNoEntry: false })?.mtime ?? new Date()).toISOString();
}
