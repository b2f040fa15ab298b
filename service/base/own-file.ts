import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { WorkerOptions } from "node:worker_threads";

/** From the sources (tests, tsx) our files are TypeScript, and Node needs tsx to load them. */
const fromSources = __filename.endsWith(".ts");

const root = join(__dirname, "../..");

/** A file of ours by its place in the package, such as `cli/main`; compiled or not as this one is. */
export function ownFile(name: string): string {
  return join(root, name) + (fromSources ? ".ts" : ".js");
}

/** A folder of what is built beside our files, wherever they are run from. */
export function builtFolder(name: string): string {
  return join(root, fromSources ? "dist" : "", name);
}

/** Node's arguments for a process that runs one of our files. */
export function processArguments(): string[] {
  return fromSources ? ["--import", pathToFileURL(require.resolve("tsx")).href] : [];
}

/** Room for what is only just made, in MB; by default each thread takes 48, and what it computes lies elsewhere. */
const youngMb = 6;

/** How Node starts a thread; there the hooks of `--import` do not reach the entry file (Node 20). */
export function threadOptions(): Pick<WorkerOptions, "execArgv" | "resourceLimits"> {
  return {
    execArgv: fromSources ? ["--require", require.resolve("tsx/cjs")] : [],
    resourceLimits: { maxYoungGenerationSizeMb: youngMb },
  };
}
