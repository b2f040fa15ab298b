import type { Command } from "commander";
import { defaultDataDir } from "../stack/data-directory";
import { confirm } from "../terminal/confirm";
import { print } from "../terminal/output";
import { stop } from "./stop";

/** Adds `recommender reset`. */
export function addReset(program: Command): void {
  program
    .command("reset")
    .description(
      "End the service of a folder and delete everything that it keeps: datasets, models, jobs and the key.",
    )
    .option("--data <dir>", "folder of all data", defaultDataDir)
    .option("--yes", "do not ask")
    .option("--json", "print one line of JSON")
    .addHelpText("after", "\nExamples:\n  recommender reset\n  recommender reset --data ./other --yes")
    .action(async ({ data, yes, ...options }: { data: string; yes?: true; json?: true }) => {
      const { deleteData, folderAt, isDataFolder, lockFolder, refuseForeign } = await import(
        "../../service/embedded.js"
      );
      const folder = folderAt(data);
      refuseForeign(folder);
      const there = isDataFolder(folder);
      let kept: string[] = [];
      if (there) {
        await confirm(`Delete all data in ${folder.path}?`, yes);
        await stop(data);
        const unlock = lockFolder(folder);
        try {
          kept = deleteData(folder);
        } finally {
          unlock();
        }
      }
      print(options, { reset: there, dataDir: folder.path, kept }, () => {
        if (!there) return `There is no data of a service in ${folder.path}\n`;
        const what =
          kept.length > 0
            ? `the data in ${folder.path}; what is not the service's stays: ${kept.join(", ")}`
            : folder.path;
        return `Deleted ${what}\n`;
      });
    });
}
