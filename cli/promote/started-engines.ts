import { AsyncLocalStorage } from "node:async_hooks";
import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseJson } from "../../client/parse";
import {
  createDirectory,
  readIfPossible,
  removeOldFiles,
  stateDirectory,
} from "../../client/state-directory";

/** Record of an engine that a command on this machine started. */
interface Started {
  readonly stack: string;
  /** Start time in milliseconds since 1970. */
  readonly at: number;
}

/** An engine takes its lock within this time after its start. Later locks belong to other engines. */
const lockWithinMs = 10 * 60_000;

/** Tolerance for the time of a lock, which the engine reports in whole seconds. */
const skewMs = 2_000;

/** Older records are deleted. */
const maxAgeMs = 30 * 24 * 3_600_000;

/**
 * Runs `work`, and records the process ids of the engines that it starts, until they end. Only this record proves that
 * the owner of a lock ran on this machine, because machines that share a backend may have the same host name.
 */
export function recordingEngines<T>(stack: string, work: () => Promise<T>): Promise<T> {
  // The Automation API does not expose the process ids of its engines, so listen for new child processes.
  if (!isSubscribed) subscribe("child_process", onProcess);
  isSubscribed = true;
  return stackHere.run(stack, work);
}

const stackHere = new AsyncLocalStorage<string>();
let isSubscribed = false;

function onProcess(message: unknown): void {
  const stack = stackHere.getStore();
  if (stack !== undefined) record(stack, (message as { process: ChildProcess }).process);
}

/** Whether a command on this machine started the engine that owns a lock. */
export function wasStartedHere(
  stack: string,
  { pid, since }: { readonly pid: number; readonly since: string },
): boolean {
  const started = parseJson(readIfPossible(fileOf(pid)) ?? "") as Started | undefined;
  const after = Date.parse(since) - (started?.at ?? Number.NaN);
  return started?.stack === stack && after >= -skewMs && after <= lockWithinMs;
}

function record(stack: string, child: ChildProcess): void {
  child.once("spawn", () => {
    const { pid, spawnfile } = child;
    if (pid === undefined || !/^pulumi(\.\w+)?$/.test(basename(spawnfile))) return;
    try {
      createDirectory(stateDirectory("engines"));
      removeOldFiles(stateDirectory("engines"), maxAgeMs);
      writeFileSync(fileOf(pid), JSON.stringify({ stack, at: Date.now() } satisfies Started), {
        mode: 0o600,
      });
    } catch {
      // Without the record, users must remove a stale lock of this engine with `pulumi cancel`.
      return;
    }
    // A killed engine (no exit code) leaves its lock, so its record must stay.
    child.once("exit", (code) => code !== null && rmSync(fileOf(pid), { force: true }));
  });
}

function fileOf(pid: number): string {
  return join(stateDirectory("engines"), `${pid}.json`);
}
