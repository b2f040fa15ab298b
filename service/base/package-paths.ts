import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { WorkerOptions } from "node:worker_threads";

/** Whether this runs from TypeScript sources (in tests, or with tsx). Node needs tsx to load them. */
const fromSources = __filename.endsWith(".ts");

const root = join(__dirname, "../..");

/** Returns the path of a module of this package, such as `cli/main`. */
export function modulePath(name: string): string {
  return join(root, name) + (fromSources ? ".ts" : ".js");
}

/** Returns the path of a directory of build output. */
export function buildDirectory(name: string): string {
  return join(root, fromSources ? "dist" : "", name);
}

/** Returns the arguments of Node for a process that runs a module of this package. */
export function processArguments(): string[] {
  return fromSources ? ["--import", pathToFileURL(require.resolve("tsx")).href] : [];
}

/** Heap for new objects of a thread, in MB. The default is 48, but threads compute in typed arrays outside the heap. */
const youngGenerationMb = 6;

/** Returns the options of a thread. `--require` instead of `--import`, which does not affect a thread's entry file in Node 20. */
export function threadOptions(): Pick<WorkerOptions, "execArgv" | "resourceLimits"> {
  return {
    execArgv: fromSources ? ["--require", require.resolve("tsx/cjs")] : [],
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb },
  };
}
