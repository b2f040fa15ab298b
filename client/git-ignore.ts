import { execFile } from "node:child_process";
import { basename, dirname, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Default names of generated files and directories, each with a .gitignore pattern for all such names. */
const defaults = [
  { name: /^recommender-rejects-/, pattern: "recommender-rejects-*" },
  { name: /^\.recommender$/, pattern: ".recommender/" },
];

/**
 * Returns a hint to add a new file or directory to .gitignore, so it is not committed by accident.
 * @returns undefined if Git already ignores the path, or if the path is not in a work tree
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
    // Git is not installed, or the path is not in a work tree.
    return undefined;
  }
}
