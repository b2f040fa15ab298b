import { existsSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { confirm } from "./confirm";
import { defaultDataDir } from "./data";
import { print } from "./output";
import { stop } from "./stop";

/** Adds `recommender reset`. */
export function addReset(program: Command): void {
  program
    .command("reset")
    .description(
      "End the service of a folder and delete everything in it: datasets, models, jobs and the key.",
    )
    .option("--data <dir>", "folder of all data", defaultDataDir)
    .option("--yes", "do not ask")
    .option("--json", "print one line of JSON")
    .addHelpText("after", "\nExamples:\n  recommender reset\n  recommender reset --data ./other --yes")
    .action(async ({ data, yes, ...options }: { data: string; yes?: true; json?: true }) => {
      const { folderAt } = await import("../service/index.js");
      const folder = folderAt(data);
      // Only a folder of ours is deleted, whatever --data says.
      const there = existsSync(folder.database);
      if (there) {
        await confirm(`Delete all data in ${folder.path}?`, yes);
        await stop(data);
        rmSync(resolve(data), { recursive: true, force: true });
      }
      print(options, { reset: there, dataDir: folder.path }, () =>
        there ? `Deleted ${folder.path}\n` : `There is no data in ${folder.path}\n`,
      );
    });
}
