import { existsSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { defaultDataDir } from "./data";
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
    .action(async ({ data, yes, json }: { data: string; yes?: true; json?: true }) => {
      const { folderAt } = await import("../service/index.js");
      const folder = folderAt(data);
      // Only a folder of ours is deleted, whatever --data says.
      const there = existsSync(folder.database);
      if (there && !yes && !(await confirm(`Delete all data in ${folder.path}?`)))
        throw new Error("Nothing was deleted.");
      if (there) {
        await stop(data);
        rmSync(resolve(data), { recursive: true, force: true });
      }
      if (json) process.stdout.write(`${JSON.stringify({ reset: there, dataDir: folder.path })}\n`);
      else process.stdout.write(there ? `Deleted ${folder.path}\n` : `There is no data in ${folder.path}\n`);
    });
}

async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Error("Nobody is there to ask; confirm with --yes.");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test(await terminal.question(`${question} [y/N] `));
  } finally {
    terminal.close();
  }
}
