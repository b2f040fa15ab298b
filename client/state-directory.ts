import { mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** A folder of the user for what is worth keeping between runs, yet can be lost without harm. */
export function stateDirectory(part: string): string {
  const { XDG_STATE_HOME, LOCALAPPDATA } = process.env;
  const base = XDG_STATE_HOME || LOCALAPPDATA || join(homedir(), ".local", "state");
  return join(base, "pulumi-recommender", part);
}

/** Creates a folder that only its owner may read, and those above it. */
export function createDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  // Not by the platform's own recursion, which never ends under /proc.
  if (dirname(path) !== path) createDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
