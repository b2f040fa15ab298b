import { fork } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { ownFile, processArguments } from "../base/own-file";
import { endGroup } from "../base/process-group";
import type { Ended } from "./guard";

/** What a command is run with. */
export interface CommandRun {
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
  /** Ends the command, and all that it has started. */
  readonly signal: AbortSignal;
  onLine(stream: "stdout" | "stderr", line: string): void;
}

const longestLine = 2000;

/** How long output may still come once all processes of a command are gone. */
const outputMs = 1000;

/** Runs a shell command in a process group of its own and says how it ended; aborted, nothing of it is left. */
export async function runCommand({ command, env, signal, onLine }: CommandRun): Promise<Ended> {
  const guard = fork(ownFile("service/jobs/guard"), [], {
    detached: true,
    env,
    execArgv: processArguments(),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const [stdout, stderr] = [guard.stdout as Readable, guard.stderr as Readable];
  const closed = new Promise((resolve) => guard.once("close", resolve));
  const ended = new Promise<Ended>((resolve) => {
    guard.once("message", (message) => resolve(message as Ended));
    guard.once("exit", (code, by) => resolve({ code, signal: by }));
    guard.on("error", ({ message }) => resolve({ code: null, signal: null, error: message }));
  });
  for (const [name, stream] of [
    ["stdout", stdout],
    ["stderr", stderr],
  ] as const)
    createInterface({ input: stream }).on("line", (line) => onLine(name, line.slice(0, longestLine)));
  const end = () => {
    if (guard.pid !== undefined && guard.exitCode === null && guard.signalCode === null) endGroup(guard.pid);
  };
  signal.addEventListener("abort", end);
  try {
    if (signal.aborted) end();
    else guard.send(command);
    return await ended;
  } finally {
    signal.removeEventListener("abort", end);
    // The guard waits for this, and what the command left running goes with it.
    end();
    // What left the group may keep the output open.
    await Promise.race([closed, sleep(outputMs)]);
    stdout.destroy();
    stderr.destroy();
  }
}
