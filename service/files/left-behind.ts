import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { folderAt } from "./folder";
import { holdFile } from "./lock";

/** How the folders begin that hold nothing but copies of what a shared store has. */
const prefix = "recommender-copies-";

/** Longer than a process takes from making its folder to locking it. */
const settledAfterMs = 60_000;

/** Makes a folder for the copies of one process, and removes those of processes that were killed. */
export function copiesFolder(parent = tmpdir()): string {
  for (const name of readdirSync(parent)) if (name.startsWith(prefix)) removeUnused(join(parent, name));
  return mkdtempSync(join(parent, prefix));
}

/** One that a process uses is locked by it; those of other users cannot be opened. */
function removeUnused(path: string): void {
  try {
    if (statSync(path).mtimeMs > Date.now() - settledAfterMs) return;
    const release = holdFile(folderAt(path).lockFile, (cause) => cause as Error, 0);
    rmSync(path, { recursive: true, force: true });
    release();
  } catch {
    // It is left to whoever uses it.
  }
}
