import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** Returns a directory of the current user for files that are kept between runs, such as recovery journals. */
export function stateDirectory(part: string): string {
  const { XDG_STATE_HOME, LOCALAPPDATA } = process.env;
  const base = XDG_STATE_HOME || LOCALAPPDATA || join(homedir(), ".local", "state");
  return join(base, "pulumi-recommender", part);
}

/** Returns a digest of any JSON value, for file names. */
export function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}

/** Reads a text file. Returns undefined if it does not exist or cannot be read. */
export function readIfPossible(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** Writes a text file that only its owner can read, and creates its directory. Readers never see an incomplete file. */
export function replaceFile(path: string, text: string): void {
  createDirectory(dirname(path));
  const next = `${path}.${process.pid}`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, path);
}

/** Removes files in a directory that are older than `maxAgeMs`. */
export function removeOldFiles(directory: string, maxAgeMs: number): void {
  for (const name of readdirSync(directory)) {
    const file = join(directory, name);
    const { mtimeMs = Date.now() } = statSync(file, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > maxAgeMs) rmSync(file, { force: true });
  }
}

/** Creates a directory that only its owner can read, and its parents. */
export function createDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  // Does not use `recursive: true`, which never returns under /proc.
  if (dirname(path) !== path) createDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
