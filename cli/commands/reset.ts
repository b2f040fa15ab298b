import type { Command } from "commander";
import { defaultDataDir } from "../stack/data-directory";
import { confirm } from "../terminal/confirm";
import { examples, print } from "../terminal/output";
import { stop } from "./stop";

/** Adds `recommender reset`. */
export function addReset(program: Command): void {
  program
    .command("reset")
    .description("Stop an embedded service and delete all its data: datasets, models, jobs and the key.")
    .option("--data <dir>", "data directory", defaultDataDir)
    .option("--yes", "skip the confirmation")
    .option("--json", "print the result as one line of JSON")
    .addHelpText("after", examples("reset", "reset --data ./other --yes"))
    .action(async ({ data, yes, ...options }: { data: string; yes?: true; json?: true }) => {
      const { deleteData, dataDirectoryAt, isDataDirectory, lockDataDirectory, refuseForeign } = await import(
        "../../service/embedded.js"
      );
      const dataDirectory = dataDirectoryAt(data);
      refuseForeign(dataDirectory);
      const exists = isDataDirectory(dataDirectory);
      let otherFiles: string[] = [];
      if (exists) {
        await confirm(`Delete all data in ${dataDirectory.path}?`, yes);
        await stop(data);
        const unlock = lockDataDirectory(dataDirectory);
        try {
          otherFiles = deleteData(dataDirectory);
        } finally {
          unlock();
        }
      }
      print(options, { reset: exists, dataDir: dataDirectory.path, kept: otherFiles }, () => {
        if (!exists) return `There is no service data in ${dataDirectory.path}\n`;
        const what =
          otherFiles.length > 0
            ? `the data in ${dataDirectory.path}. Other files stay: ${otherFiles.join(", ")}`
            : dataDirectory.path;
        return `Deleted ${what}\n`;
      });
    });
}
