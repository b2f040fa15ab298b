import { relative, resolve } from "node:path";
import { shellQuote } from "../../client/shell-quote";

export { shellQuote } from "../../client/shell-quote";

/** Returns ` --cwd DIR` for a command that users run in the current directory, or empty text if it is not needed. */
export function cwdFlag(cwd: string): string {
  const directory = shortestPath(cwd);
  return directory === "" ? "" : ` --cwd ${shellQuote(directory)}`;
}

/** Returns the options `--cwd` and `--releases`, each only if it is needed. */
export function releaseFlags(cwd: string, releases: string): string {
  const isDefault = resolve(cwd, "releases") === resolve(releases);
  return cwdFlag(cwd) + (isDefault ? "" : ` --releases ${shellQuote(shortestPath(releases) || ".")}`);
}

/** Returns the path relative to the current directory, or the absolute path if that is shorter. */
function shortestPath(path: string): string {
  const absolute = resolve(path);
  const fromHere = relative(process.cwd(), absolute);
  return fromHere.length < absolute.length ? fromHere : absolute;
}
