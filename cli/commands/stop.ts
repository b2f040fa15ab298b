import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { DataDirectory } from "../../service/embedded";
import { type DataOptions, dataDirectoryOf, stackHint, withDataDirectory } from "../stack/data-directory";
import { examples, type OutputOptions, print } from "../terminal/output";

/** Maximum time to wait for the process. It is longer than the time after which a closing service exits anyway. */
const timeoutMs = 30_000;

/** Adds `recommender stop`. */
export function addStop(program: Command): void {
  withDataDirectory(program.command("stop"))
    .description("Stop an embedded service. Its data stays.")
    .option("--json", "print the result as one line of JSON")
    .addHelpText("after", examples("stop --stack dev", "stop --data ./other --json"))
    .action(async (options: DataOptions & OutputOptions) => {
      const data = await dataDirectoryOf(options);
      const pid = await stop(data);
      const hint = pid === undefined && !options.json ? await stackHint(options) : "";
      print(options, { stopped: pid !== undefined, pid: pid ?? null }, () =>
        pid === undefined ? `No service is running for ${data}.${hint}\n` : `Stopped process ${pid}\n`,
      );
    });
}

/**
 * Stops the process that has locked a data directory, and waits for it to end. Returns the process id, or undefined if
 * no process was stopped.
 */
export async function stop(dir: string): Promise<number | undefined> {
  const { findRunning, dataDirectoryAt, isLocked, runningFileDelayMs, readRunning } = await import(
    "../../service/embedded.js"
  );
  const dataDirectory = dataDirectoryAt(dir);
  const deadline = Date.now() + timeoutMs;
  let signalledPid: number | undefined;
  let owner: { readonly pid: number | undefined; readonly since: number } | undefined;
  while (isLocked(dataDirectory)) {
    const { pid, host = hostname() } = readRunning(dataDirectory) ?? {};
    if (host !== hostname()) throw new Error(onOtherHost(dataDirectory, pid, host));
    if (pid !== owner?.pid) owner = { pid, since: Date.now() };
    if (pid !== undefined && pid !== signalledPid) {
      // The file may still contain the process id of an earlier service, and another process may have that id now.
      const isSettled = Date.now() - (owner?.since ?? 0) >= runningFileDelayMs;
      const isOwner = isSettled || (await findRunning(dataDirectory))?.pid === pid;
      if (isOwner && terminate(pid, dataDirectory.path)) signalledPid = pid;
    }
    if (Date.now() > deadline) throw new Error(stillLocked(dataDirectory, signalledPid));
    await sleep(20);
  }
  return signalledPid;
}

/** Sends SIGTERM to a process. Returns false if it has already ended. */
function terminate(pid: number, path: string): boolean {
  try {
    return process.kill(pid, "SIGTERM");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
    throw new Error(
      `Cannot stop process ${pid}, which uses ${path}: it belongs to another user. Run this command as that user.`,
    );
  }
}

/** Returns the error for a service on another machine or in another container, whose process id means nothing here. */
function onOtherHost({ path }: DataDirectory, pid: number | undefined, host: string): string {
  return (
    `Process ${pid} on ${host} uses ${path}, and this is ${hostname()}. Stop it there. ` +
    `If ${host} is a former name of this machine, run \`kill ${pid}\`.`
  );
}

function stillLocked(
  { path, runningFile, lockFile, logFile }: DataDirectory,
  pid: number | undefined,
): string {
  return pid !== undefined
    ? `Process ${pid}, which uses ${path}, did not end within ${timeoutMs / 1000} s. ` +
        `Run \`kill -9 ${pid}\`: acknowledged data is not lost. See ${logFile}.`
    : `A process uses ${path}, but ${runningFile} does not contain its id. ` +
        `Find it with \`fuser ${lockFile}\`, and stop it.`;
}
