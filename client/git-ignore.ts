import { execFile } from "node:child_process";
import { basename, dirname, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Files and directories with default names, and the patterns that cover all of their kind. */
const defaults = [
  { name: /^recommender-rejects-/, pattern: "recommender-rejects-*" },
  { name: /^\.recommender$/, pattern: ".recommender/" },
];

/**
 * The line for .gitignore that keeps a new file or directory out of commits.
 * @returns undefined if Git ignores the path already, or if the path is in no work tree
 */
export async function ignoreHint(path: string, contents: string): Promise<string | undefined> {
  const name = basename(resolve(path));
  const git = (...args: string[]) => run("git", ["-C", dirname(resolve(path)), ...args]);
  try {
    const prefix = (await git("rev-parse", "--show-prefix")).stdout.trimEnd();
    const isIgnored = await git("check-ignore", "--quiet", "--", name).then(
      () => true,
      (error: { code?: unknown }) => error.code !== 1,
    );
    if (isIgnored) return undefined;
    const { pattern } = defaults.find((one) => one.name.test(name)) ?? { pattern: `/${prefix}${name}` };
    return `Add ${pattern} to .gitignore: ${path} has ${contents}, and Git does not ignore it.`;
  } catch {
    // There is no Git, or no work tree.
    return undefined;
  }
}
