import { relative, resolve } from "node:path";
import { shellQuote } from "../../client/shell-quote";

export { shellQuote } from "../../client/shell-quote";

/** Returns ` --cwd DIR` for a command in the current directory, or an empty text if the option is not needed. */
export function cwdFlag(cwd: string): string {
  const directory = shortestPath(cwd);
  return directory === "" ? "" : ` --cwd ${shellQuote(directory)}`;
}

/** Returns the options `--cwd` and `--releases`, each only if it is needed. */
export function releaseFlags(cwd: string, releases: string): string {
  const isDefault = resolve(cwd, "releases") === resolve(releases);
  return cwdFlag(cwd) + (isDefault ? "" : ` --releases ${shellQuote(shortestPath(releases) || ".")}`);
}

/** Returns the relative or the absolute path, whichever is shorter. */
function shortestPath(path: string): string {
  const absolute = resolve(path);
  const fromHere = relative(process.cwd(), absolute);
  return fromHere.length < absolute.length ? fromHere : absolute;
}
