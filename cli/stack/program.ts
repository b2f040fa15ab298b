import { execFile } from "node:child_process";
import { realpath } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { version } from "../../package.json";

const run = promisify(execFile);

/** Git commit and uncommitted changes of a program. */
export interface ProgramState {
  readonly commit: string | null;
  /** Files that differ from the commit, except the release history. */
  readonly changed: readonly string[];
  /** Reason if the commit or the changes could not be read, usually in the words of Git. */
  readonly problem?: string;
}

/** Reads the commit of a directory and the uncommitted changes in its repository. */
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

/**
 * Differences between an earlier commit and the checked-out commit, except release histories, stack configuration and the policy.
 */
export interface ProgramDifference {
  /** The commit to compare with. */
  readonly from: string;
  /** The checked-out commit. */
  readonly to: string;
  /** Files in the project directory that differ. */
  readonly files: readonly string[];
  /** Files outside the project directory that differ. */
  readonly elsewhere: readonly string[];
  /** Diff of the files in the project, truncated if it is long. */
  readonly diff: string;
  /** Git's message if the commits cannot be compared. */
  readonly problem?: string;
}

const maxDiffLines = 60;

/** Compares the checked-out commit with an earlier commit. */
export async function programDifference(
  from: string,
  { cwd, releases, to }: { readonly cwd: string; readonly releases: string; readonly to: string },
): Promise<ProgramDifference> {
  try {
    const prefix = (await git(cwd, "rev-parse", "--show-prefix")).trimEnd();
    const range = ["diff", "--no-renames", "--no-color", "--no-ext-diff", from, to];
    const excluded = await excludeReleases(cwd, releases);
    const listing = await git(cwd, ...range, "--name-only", "-z", "--", ":/", ...excluded);
    const all = listing.split("\0").filter(Boolean);
    const files = all.filter((path) => path.startsWith(prefix) && !isConfig(path.slice(prefix.length)));
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

/**
 * Whether a file is the configuration of a stack or the policy, which are not part of the program that all stacks run.
 */
function isConfig(path: string): boolean {
  return /^(Pulumi\.[^/]+|recommender)\.ya?ml$/.test(path);
}

/** Runs Git in a directory. Throws an error with Git's message. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  try {
    // Git must print English, because error messages of this command quote its output.
    const env = { ...process.env, LC_ALL: "C" };
    const options = { env, maxBuffer: 1 << 28 };
    return (await run("git", ["-C", resolve(cwd), ...args], options)).stdout;
  } catch (error) {
    const { code, stderr = "", message } = error as NodeJS.ErrnoException & { stderr?: string };
    if (code === "ENOENT") throw new Error("`git` is not on PATH");
    const text = stderr.trim().replace(/^(fatal|error): /, "");
    throw new Error(text.replace(/\s*\n\s*/g, " ") || message);
  }
}

/**
 * Returns a pathspec that excludes the release histories. Empty if they are outside the repository, because Git would
 * fail.
 */
async function excludeReleases(cwd: string, releases: string): Promise<string[]> {
  const root = (await git(cwd, "rev-parse", "--show-toplevel")).trimEnd();
  const path = relative(await realpath(root), await realPath(resolve(cwd, releases)));
  const isOutside = path === "" || isAbsolute(path) || path.split(sep)[0] === "..";
  return isOutside ? [] : [`:(top,exclude,literal)${path.split(sep).join("/")}`];
}

/** Resolves symbolic links, even if the last parts of the path do not exist yet. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realPath(parent), basename(path));
  }
}

/** Versions of the packages and the engine that run a program. */
export interface Versions {
  readonly package: string;
  readonly sdk: string;
  readonly engine: string;
}

/** Reads the versions that a program runs with. */
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
