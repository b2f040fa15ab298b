import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { type FolderOptions, folderOf, withFolder } from "./data";
import { type OutputOptions, print } from "./output";

/** Longer than a service takes that ends by force what it cannot end otherwise. */
const patienceMs = 30_000;

/** Adds `recommender stop`. */
export function addStop(program: Command): void {
  withFolder(program.command("stop"))
    .description("End the service of a folder; its data stays.")
    .option("--json", "print one line of JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  recommender stop --stack dev\n  recommender stop --data ./other --json",
    )
    .action(async (options: FolderOptions & OutputOptions) => {
      const data = await folderOf(options);
      const pid = await stop(data);
      print(options, { stopped: pid !== undefined, pid: pid ?? null }, () =>
        pid === undefined ? `No service runs for ${data}\n` : `Stopped process ${pid}\n`,
      );
    });
}

/** Ends the process that has locked a folder, waits until the folder is free, and gives the process's id. */
export async function stop(dir: string): Promise<number | undefined> {
  const { folderAt, isLocked, readRunning } = await import("../service/index.js");
  const folder = folderAt(dir);
  if (!isLocked(folder)) return undefined;
  const { pid } = readRunning(folder) ?? {};
  if (pid === undefined)
    throw new Error(
      `A process serves ${folder.path}, but ${folder.runningFile} does not say which. ` +
        `Find it with \`fuser ${folder.lockFile}\`, and end it.`,
    );
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === "EPERM" ? "it is another user's" : "it is gone";
    if (isLocked(folder))
      throw new Error(`Process ${pid}, which serves ${folder.path}, cannot be ended: ${reason}.`);
  }
  const until = Date.now() + patienceMs;
  while (isLocked(folder)) {
    if (Date.now() > until)
      throw new Error(
        `Process ${pid}, which serves ${folder.path}, did not end within ${patienceMs / 1000} s. ` +
          `End it with \`kill -9 ${pid}\`: nothing that it acknowledged is lost. See ${folder.logFile}.`,
      );
    await sleep(20);
  }
  return pid;
}
