import { relative, resolve } from "node:path";

/** The option `--cwd` for a command that is run in the current folder, with a space before it; empty if not needed. */
export function cwdFlag(cwd: string): string {
  const folder = shortestPath(cwd);
  return folder === "" ? "" : ` --cwd ${shellQuote(folder)}`;
}

/** The options `--cwd` and `--releases`, each only if needed. */
export function releaseFlags(cwd: string, releases: string): string {
  const isDefault = resolve(cwd, "releases") === resolve(releases);
  return cwdFlag(cwd) + (isDefault ? "" : ` --releases ${shellQuote(shortestPath(releases) || ".")}`);
}

/** The shorter one of a path from the current folder and the absolute path. */
function shortestPath(path: string): string {
  const absolute = resolve(path);
  const near = relative(process.cwd(), absolute);
  return near.length < absolute.length ? near : absolute;
}

/** A word of a command line, as a POSIX shell reads it. */
export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
