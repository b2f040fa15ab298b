import { mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** Returns a directory of the user for data that is useful between runs but can be lost without harm. */
export function stateDirectory(part: string): string {
  const { XDG_STATE_HOME, LOCALAPPDATA } = process.env;
  const base = XDG_STATE_HOME || LOCALAPPDATA || join(homedir(), ".local", "state");
  return join(base, "pulumi-recommender", part);
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
