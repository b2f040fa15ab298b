import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { WorkerOptions } from "node:worker_threads";

/** Whether this process runs from TypeScript sources, as in tests. Node needs tsx to load them. */
const fromSources = __filename.endsWith(".ts");

const root = join(__dirname, "../..");

/** Returns the path of a module of this package, such as `cli/main`. */
export function modulePath(name: string): string {
  return join(root, name) + (fromSources ? ".ts" : ".js");
}

/** Returns the path of a build output directory. */
export function buildDirectory(name: string): string {
  return join(root, fromSources ? "dist" : "", name);
}

/** Returns the Node arguments for a process that runs a module of this package. */
export function processArguments(): string[] {
  return fromSources ? ["--import", pathToFileURL(require.resolve("tsx")).href] : [];
}

/**
 * Heap for new objects in a thread, in MB. The default is 48, but threads need less, because they compute in arrays
 * outside the heap.
 */
const youngGenerationMb = 6;

/**
 * Returns the options to start a thread. In Node 20, `--import` does not affect the entry file, so `--require` is used.
 */
export function threadOptions(): Pick<WorkerOptions, "execArgv" | "resourceLimits"> {
  return {
    execArgv: fromSources ? ["--require", require.resolve("tsx/cjs")] : [],
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb },
  };
}
