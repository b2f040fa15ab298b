import type { Command } from "commander";
import { type FolderOptions, folderOf, withFolder } from "./data";
import { type OutputOptions, print } from "./output";

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

/** Ends the service of a folder, waits until it is gone, and gives its process id. */
export async function stop(dir: string): Promise<number | undefined> {
  const { findRunning, folderAt } = await import("../service/index.js");
  const running = await findRunning(folderAt(dir));
  if (!running) return undefined;
  process.kill(running.pid, "SIGTERM");
  while (isAlive(running.pid)) await new Promise((resolve) => setTimeout(resolve, 20));
  return running.pid;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
