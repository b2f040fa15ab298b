import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { version } from "../../package.json";

const run = promisify(execFile);

/** Which program a folder holds. */
export interface ProgramState {
  readonly commit: string | null;
  /** Files that differ from the commit, without the releases themselves. */
  readonly changed: readonly string[];
}

/** The commit of a folder, and what in its repository is not committed. */
export async function programIn(cwd: string, releases: string): Promise<ProgramState> {
  const git = async (...args: string[]) => (await run("git", ["-C", cwd, ...args])).stdout;
  try {
    const commit = (await git("rev-parse", "HEAD")).trim();
    const exclude = `:(exclude)${resolve(cwd, releases)}`;
    const listing = await git("status", "--porcelain", "--no-renames", "-z", "--", ":/", exclude);
    const changed = listing
      .split("\0")
      .filter(Boolean)
      .map((line) => line.slice(3));
    return { commit, changed };
  } catch {
    // No Git, no repository, or one without a commit.
    return { commit: null, changed: [] };
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
