import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { dataDirectoryAt } from "./data-directory";
import { lockFile } from "./lock";

/** How the folders begin that hold nothing but copies of what a shared store has. */
const prefix = "recommender-copies-";

/** Longer than a process takes from making its folder to locking it. */
const settledAfterMs = 60_000;

/** Makes a folder for the copies of one process, and removes those of processes that were killed. */
export function createCopiesDirectory(parent = tmpdir()): string {
  const own = mkdtempSync(join(parent, prefix));
  for (const name of readable(parent)) if (name.startsWith(prefix)) removeUnused(join(parent, name));
  return own;
}

/** What is in a folder; nothing where files can be made there, but not listed. */
function readable(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** One that a process uses is locked by it; links and folders of other users are none that we made. */
function removeUnused(path: string): void {
  try {
    const found = lstatSync(path);
    if (!found.isDirectory() || found.uid !== userInfo().uid) return;
    if (found.mtimeMs > Date.now() - settledAfterMs) return;
    const release = lockFile(dataDirectoryAt(path).lockFile, (cause) => cause as Error, 0);
    rmSync(path, { recursive: true, force: true });
    release();
  } catch {
    // It is left to whoever uses it.
  }
}
