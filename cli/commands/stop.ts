import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { Folder } from "../../service/embedded";
import {
  type DataDirectoryOptions,
  dataDirectoryOf,
  stackHint,
  withDataDirectory,
} from "../stack/data-directory";
import { type OutputOptions, print } from "../terminal/output";

/** Longer than a service takes that ends by force what it cannot end otherwise. */
const patienceMs = 30_000;

/** Adds `recommender stop`. */
export function addStop(program: Command): void {
  withDataDirectory(program.command("stop"))
    .description("End the service of a folder; its data stays.")
    .option("--json", "print one line of JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  recommender stop --stack dev\n  recommender stop --data ./other --json",
    )
    .action(async (options: DataDirectoryOptions & OutputOptions) => {
      const data = await dataDirectoryOf(options);
      const pid = await stop(data);
      const others = pid === undefined && !options.json ? await stackHint(options) : "";
      print(options, { stopped: pid !== undefined, pid: pid ?? null }, () =>
        pid === undefined ? `No service runs for ${data}.${others}\n` : `Stopped process ${pid}\n`,
      );
    });
}

/** Ends the process that has locked a folder, waits until the folder is free, and gives the process's id. */
export async function stop(dir: string): Promise<number | undefined> {
  const { findRunning, folderAt, isLocked, nameSettlesMs, readRunning } = await import(
    "../../service/embedded.js"
  );
  const folder = folderAt(dir);
  const until = Date.now() + patienceMs;
  let ending: number | undefined;
  let named: { readonly pid: number | undefined; readonly since: number } | undefined;
  while (isLocked(folder)) {
    const { pid, host = hostname() } = readRunning(folder) ?? {};
    if (host !== hostname()) throw new Error(servedElsewhere(folder, pid, host));
    if (pid !== named?.pid) named = { pid, since: Date.now() };
    if (pid !== undefined && pid !== ending) {
      const isSettled = Date.now() - (named?.since ?? 0) >= nameSettlesMs;
      const isItself = isSettled || (await findRunning(folder))?.pid === pid;
      if (isItself && signalled(pid, folder.path)) ending = pid;
    }
    if (Date.now() > until) throw new Error(stillServed(folder, ending));
    await sleep(20);
  }
  return ending;
}

/** Asks a process to end; false when it is gone already. */
function signalled(pid: number, path: string): boolean {
  try {
    return process.kill(pid, "SIGTERM");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
    throw new Error(`Process ${pid}, which serves ${path}, cannot be ended: it is another user's.`);
  }
}

/** A process id of another machine or container is somebody else's on this one. */
function servedElsewhere({ path }: Folder, pid: number | undefined, host: string): string {
  return (
    `Process ${pid} of ${host} serves ${path}, and this is ${hostname()}: stop it there. ` +
    `If ${host} is a former name of this machine, end it with \`kill ${pid}\`.`
  );
}

function stillServed({ path, runningFile, lockFile, logFile }: Folder, pid: number | undefined): string {
  return pid !== undefined
    ? `Process ${pid}, which serves ${path}, did not end within ${patienceMs / 1000} s. ` +
        `End it with \`kill -9 ${pid}\`: nothing that it acknowledged is lost. See ${logFile}.`
    : `A process serves ${path}, but ${runningFile} does not say which. ` +
        `Find it with \`fuser ${lockFile}\`, and end it.`;
}
