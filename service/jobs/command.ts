import { fork } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { modulePath, processArguments } from "../base/package-paths";
import { killProcessGroup } from "../base/process-group";
import type { Exit } from "./command-guard";

/** Options of {@link runCommand}. */
export interface CommandRun {
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
  /** When it is aborted, the command and all processes in its group are killed. */
  readonly signal: AbortSignal;
  onLine(stream: "stdout" | "stderr", line: string): void;
}

const longestLine = 2000;

/** How long to wait for the rest of the output after a command has ended. */
const outputMs = 1000;

/** Runs a shell command in a separate process group, which is killed when the command ends or `signal` is aborted. */
export async function runCommand({ command, env, signal, onLine }: CommandRun): Promise<Exit> {
  const guard = fork(modulePath("service/jobs/command-guard"), [], {
    detached: true,
    env,
    execArgv: processArguments(),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const [stdout, stderr] = [guard.stdout as Readable, guard.stderr as Readable];
  const closed = new Promise((resolve) => guard.once("close", resolve));
  const ended = new Promise<Exit>((resolve) => {
    guard.once("message", (message) => resolve(message as Exit));
    guard.once("exit", (code, by) => resolve({ code, signal: by }));
    guard.on("error", ({ message }) => resolve({ code: null, signal: null, error: message }));
  });
  for (const [name, stream] of [
    ["stdout", stdout],
    ["stderr", stderr],
  ] as const)
    createInterface({ input: stream }).on("line", (line) => onLine(name, line.slice(0, longestLine)));
  const end = () => {
    if (guard.pid !== undefined && guard.exitCode === null && guard.signalCode === null)
      killProcessGroup(guard.pid);
  };
  signal.addEventListener("abort", end);
  try {
    if (signal.aborted) end();
    else guard.send(command);
    return await ended;
  } finally {
    signal.removeEventListener("abort", end);
    // Kills the guard, and processes that the command has left running.
    end();
    // A process that has left the group may keep the output open, so the wait is limited.
    await Promise.race([closed, sleep(outputMs)]);
    stdout.destroy();
    stderr.destroy();
  }
}
