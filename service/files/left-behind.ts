import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { dataDirectoryAt } from "./data-directory";
import { lockFile } from "./lock";

/** Prefix of directories that contain only local copies of files of a shared store. */
const prefix = "recommender-copies-";

/** Younger directories are not deleted. Their process may not have locked them yet. */
const settledAfterMs = 60_000;

/** Creates a directory for the local copies of this process, and deletes those of killed processes. */
export function createCopiesDirectory(parent = tmpdir()): string {
  const created = mkdtempSync(join(parent, prefix));
  for (const name of namesIn(parent)) if (name.startsWith(prefix)) removeUnused(join(parent, name));
  return created;
}

/** Lists a directory. Returns an empty list if the user may not list it. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Deletes a directory unless a process has locked it. Ignores links and directories of other users. */
function removeUnused(path: string): void {
  try {
    const found = lstatSync(path);
    if (!found.isDirectory() || found.uid !== userInfo().uid) return;
    if (found.mtimeMs > Date.now() - settledAfterMs) return;
    const release = lockFile(dataDirectoryAt(path).lockFile, (cause) => cause as Error, 0);
    rmSync(path, { recursive: true, force: true });
    release();
  } catch {
    // A process uses the directory, or it cannot be deleted.
  }
}
