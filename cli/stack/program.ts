import { execFile } from "node:child_process";
import { realpath } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { version } from "../../package.json";

const run = promisify(execFile);

/** Which program a folder holds. */
export interface ProgramState {
  readonly commit: string | null;
  /** Files that differ from the commit, without the releases themselves. */
  readonly changed: readonly string[];
  /** Why there is no commit, in Git's words. */
  readonly problem?: string;
}

/** The commit of a folder, and what in its repository is not committed. */
export async function readProgramState(cwd: string, releases: string): Promise<ProgramState> {
  try {
    const commit = (await git(cwd, "log", "-1", "--format=%H")).trim();
    const paths = await excludeReleases(cwd, releases);
    const listing = await git(cwd, "status", "--porcelain", "--no-renames", "-z", "--", ":/", ...paths);
    const changed = listing
      .split("\0")
      .filter(Boolean)
      .map((line) => line.slice(3));
    return { commit, changed };
  } catch (error) {
    return { commit: null, changed: [], problem: (error as Error).message };
  }
}

/** How the program that is checked out differs from a commit, without the histories and the stacks' configuration. */
export interface ProgramDifference {
  /** The commit that is compared with. */
  readonly from: string;
  /** The commit that is checked out. */
  readonly to: string;
  /** Files of the project's folder that differ. */
  readonly files: readonly string[];
  /** Files in the rest of the repository that differ. */
  readonly elsewhere: readonly string[];
  /** The difference of the files of the project, cut if it is long. */
  readonly diff: string;
  /** Why the two cannot be compared, in Git's words. */
  readonly problem?: string;
}

/** Lines of a difference that are shown at most. */
const maxDiffLines = 60;

/** Compares the commit that is checked out with an earlier one. */
export async function programDifference(
  from: string,
  { cwd, releases, to }: { readonly cwd: string; readonly releases: string; readonly to: string },
): Promise<ProgramDifference> {
  try {
    const prefix = (await git(cwd, "rev-parse", "--show-prefix")).trimEnd();
    const range = ["diff", "--no-renames", "--no-color", "--no-ext-diff", from, to];
    const listing = await git(
      cwd,
      ...range,
      "--name-only",
      "-z",
      "--",
      ":/",
      ...(await excludeReleases(cwd, releases)),
    );
    const all = listing.split("\0").filter(Boolean);
    const files = all.filter((path) => path.startsWith(prefix) && !isStackConfig(path.slice(prefix.length)));
    const elsewhere = all.filter((path) => !path.startsWith(prefix));
    const paths = files.map((path) => `:(top,literal)${path}`);
    const lines = files.length > 0 ? (await git(cwd, ...range, "--", ...paths)).trimEnd().split("\n") : [];
    const more = lines.length > maxDiffLines ? [`… ${lines.length - maxDiffLines} more lines`] : [];
    const diff = [...lines.slice(0, maxDiffLines), ...more].join("\n");
    return { from, to, files: files.map((path) => path.slice(prefix.length)), elsewhere, diff };
  } catch (error) {
    return { from, to, files: [], elsewhere: [], diff: "", problem: (error as Error).message };
  }
}

/** The configuration of a stack belongs to that stack, and not to the program that all of them run. */
function isStackConfig(path: string): boolean {
  return /^Pulumi\.[^/]+\.ya?ml$/.test(path);
}

/** Runs Git in a folder; throws what it says, or that there is none. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  try {
    // In English, whatever the user reads: what it says goes into messages.
    const env = { ...process.env, LC_ALL: "C" };
    const options = { env, maxBuffer: 1 << 28 };
    return (await run("git", ["-C", resolve(cwd), ...args], options)).stdout;
  } catch (error) {
    const { code, stderr = "", message } = error as NodeJS.ErrnoException & { stderr?: string };
    if (code === "ENOENT") throw new Error("there is no `git` on the PATH");
    const said = stderr.trim().replace(/^(fatal|error): /, "");
    throw new Error(said.replace(/\s*\n\s*/g, " ") || message);
  }
}

/** The pathspec that leaves the histories out; Git refuses one for a folder outside its repository. */
async function excludeReleases(cwd: string, releases: string): Promise<string[]> {
  const root = (await git(cwd, "rev-parse", "--show-toplevel")).trimEnd();
  const path = relative(await realpath(root), await realPath(resolve(cwd, releases)));
  const isOutside = path === "" || isAbsolute(path) || path.split(sep)[0] === "..";
  return isOutside ? [] : [`:(top,exclude,literal)${path.split(sep).join("/")}`];
}

/** A path without symbolic links, even if its end does not exist yet. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realPath(parent), basename(path));
  }
}

/** The versions that a program runs with. */
export interface Versions {
  readonly package: string;
  readonly sdk: string;
  readonly engine: string;
}

/** Finds the versions that a program runs with. */
export function versionsOf(cwd: string, engine: string): Versions {
  const require = createRequire(join(resolve(cwd), "index.js"));
  const installed = (name: string, fallback: string) => {
    try {
      return (require(`${name}/package.json`) as { version: string }).version;
    } catch {
      return fallback;
    }
  };
  return {
    package: installed("pulumi-recommender", version),
    sdk: installed("@pulumi/pulumi", "unknown"),
    engine: engine.replace(/^v/, ""),
  };
}
