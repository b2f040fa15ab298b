import { createHash } from "node:crypto";
import { constants, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open, rm, rmdir } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isRunning } from "../../client/process";
import { makeFolder, stateFolder } from "../../client/state-folder";
import { carriedUrn } from "../run/urn";

/** A call that creates, recorded before it is sent. */
export interface Entry {
  /** Whose it is: the resource in its stack. */
  readonly urn: string;
  /** A digest of what the service is remembered by; its address, in files of older versions. */
  readonly service: string;
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
  /** Ids that matched before the call, where a lost response is looked for in a list. */
  readonly before?: readonly string[];
  /** Id of what was created; absent while that is unknown. */
  readonly id?: string;
  /** The fields of the reply that the request leaves open. */
  readonly reply?: Readonly<Record<string, unknown>>;
}

/** Entries older than this are dropped. */
const keptMs = 30 * 24 * 3_600_000;

/** A short name for any value. */
export function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}

/** The entries of a resource: a folder of the user's has a file for each creation not yet in the state. */
export function entriesOf(urn: string): Entry[] {
  return entriesIn(folderOf(urn));
}

function entriesIn(folder: string): Entry[] {
  return filesIn(folder).flatMap((file) => read(file) ?? []);
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
export function allEntries(): Entry[] {
  return allFiles().flatMap((file) => readable(file) ?? []);
}

/** Files among them that cannot be read. */
export function unreadableFiles(): string[] {
  return allFiles().filter((file) => existsSync(file) && readable(file) === undefined);
}

function allFiles(): string[] {
  const all = stateFolder("creations");
  return namesIn(all).flatMap((name) => filesIn(join(all, name)));
}

function readable(file: string): Entry | undefined {
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
export async function put(entry: Entry): Promise<void> {
  const line = `${JSON.stringify(entry)}\n`;
  if (!(await added(entry, line))) await begun(entry, line);
  forgetOld();
}

async function added(entry: Entry, line: string): Promise<boolean> {
  const file = await open(fileOf(entry), constants.O_WRONLY | constants.O_APPEND).catch(whereAbsent);
  // What a machine that went down left without an end is a line of its own.
  if (file) await flushed(file, `\n${line}`);
  return file !== undefined;
}

async function begun(entry: Entry, line: string, tries = 3): Promise<void> {
  const [folder, file] = [folderOf(entry.urn), fileOf(entry)];
  makeFolder(folder);
  // Flushed before it gets its name: after a machine goes down the file is whole or not there.
  const draft = `${file}.${process.pid}`;
  const drafted = await open(draft, "w", 0o600).catch(whereAbsent);
  // The last entry of before was erased at this moment, and its folder with it.
  if (!drafted && tries > 1) return begun(entry, line, tries - 1);
  if (!drafted) throw new Error(`${folder} cannot be kept`);
  await flushed(drafted, line);
  renameSync(draft, file);
  // A name is on the disk only when its folder is; Windows cannot open a folder, and does not need to.
  if (process.platform !== "win32") await flushed(await open(folder, "r"));
}

async function flushed(file: FileHandle, text?: string): Promise<void> {
  try {
    if (text !== undefined) await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function whereAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

/** Erases an entry. Where nothing can be erased, nothing could be recorded either, which is reported then. */
export async function forget(entry: Entry): Promise<void> {
  await rm(fileOf(entry), { force: true }).catch(() => {});
  // It stays where it has the entry of another creation of the resource.
  await rmdir(folderOf(entry.urn)).catch(() => {});
}

/** Whether the process that wrote an entry is another one and lives: the run goes on, or what is left of it. */
export function isAlive({ pid, host }: Entry): boolean {
  return host === hostname() && pid !== process.pid && isRunning(pid);
}

/**
 * Erases the creations whose results the state of the resource holds, and returns the others. With the last of
 * a chain of jobs, each submitted because the one before it failed, the whole chain is forgotten.
 */
export async function eraseStored(urn: string, known: ReadonlySet<unknown>): Promise<Entry[]> {
  const entries = entriesOf(urn);
  const held = entries.filter(({ id }) => id !== undefined && known.has(id));
  const isOver = (entry: Entry) =>
    held.includes(entry) || (entry.derived && held.some(({ at }) => entry.at <= at));
  await Promise.all(entries.filter(isOver).map(forget));
  return entries.filter((entry) => !isOver(entry));
}

function read(file: string): Entry | undefined {
  try {
    return lastIn(readFileSync(file, "utf8"));
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
function lastIn(text: string): Entry {
  const [first = "", ...later] = text.split("\n").filter((line) => line !== "");
  for (const line of later.reverse()) {
    try {
      return JSON.parse(line);
    } catch {}
  }
  return JSON.parse(first);
}

function folderOf(urn: string): string {
  // What a killed run of one carrier began is found by the other. Stacks of the same name may lie in two backends.
  return join(stateFolder("creations"), digest([carriedUrn(urn), process.env.PULUMI_BACKEND_URL ?? ""]));
}

/** Stacks of the same name may run the same creation at once: each engine has files of its own. */
function fileOf({ urn, service, path, identity, engine = "" }: Entry): string {
  return join(folderOf(urn), `${digest([service, path, identity, engine])}.json`);
}

/** A folder that cannot be read holds nothing for us; that nothing can be written to it is reported when it is tried. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

let looked = false;

function forgetOld(): void {
  if (looked) return;
  looked = true;
  const all = stateFolder("creations");
  for (const name of namesIn(all)) {
    const age = Date.now() - (statSync(join(all, name), { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > keptMs) rmSync(join(all, name), { recursive: true, force: true });
  }
}
