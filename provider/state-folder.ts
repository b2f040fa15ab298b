import { homedir } from "node:os";
import { join } from "node:path";

/** A folder of the user for what is worth keeping between runs, yet can be lost without harm. */
export function stateFolder(part: string): string {
  const { XDG_STATE_HOME, LOCALAPPDATA } = process.env;
  const base = XDG_STATE_HOME || LOCALAPPDATA || join(homedir(), ".local", "state");
  return join(base, "pulumi-recommender", part);
}
