import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { type StorageOptions, storageOf, withStorage } from "../stack/data-directory";
import { CommandError, exitCodes, onInterrupt } from "../terminal/exit";
import { note, type OutputOptions, print, withJsonErrors } from "../terminal/output";
import { rowProgress } from "../terminal/progress";
import { contentsOf, summaryOf } from "./export";

interface RestoreOptions extends StorageOptions, OutputOptions {
  readonly check?: true;
  readonly forget?: string;
}

const help = `
All ids stay, so that a Pulumi stack goes on. The service must hold nothing yet,
and nobody may serve it meanwhile. A restore that was broken off left nothing
behind that counts. The same command restores it, and copies only the models
that are not there yet. Jobs that ran when the backup was taken are run again.

A backup still holds users who were forgotten after it was taken. List their ids
in a file, one in a line, and give it with --forget. Results of queries and
clusterings are not restored then, because they list users.

Exit codes:
  0  all of it was restored, or with --check the backup is whole
  1  nothing was restored; the message says why
  2  --check found damaged files, which are named
  3  a process serves the folder or the database

Examples:
  recommender restore backup-monday --data ./restored
  recommender restore backup-monday --store postgres://db/recommender
  recommender restore backup-monday --data ./restored --forget forgotten.txt
  recommender restore backup-monday --check`;

/** Adds `recommender restore`. */
export function addRestore(program: Command): void {
  withStorage(
    program.command("restore").description("Restore a backup into a service that holds nothing yet."),
  )
    .argument("<dir>", "folder that `recommender export` wrote")
    .option("--check", "restore nothing; verify each file of the backup")
    .option("--forget <file>", "leave out the users whose ids this file lists, one in a line")
    .option("--json", "print one line of JSON")
    .addHelpText("after", help)
    .action((dir: string, options: RestoreOptions) =>
      withJsonErrors(options, async () => {
        const progress = rowProgress(options);
        const callOff = onInterrupt(() => {
          progress.end();
          note(options.check ? "Interrupted." : "Interrupted: nothing was restored.");
        });
        try {
          await (options.check ? check : restore)(dir, options, progress);
        } finally {
          progress.end();
          callOff();
        }
      }),
    );
}

type Shown = ReturnType<typeof rowProgress>;

async function check(dir: string, options: RestoreOptions, progress: Shown): Promise<void> {
  const { checkBackup } = await import("../../service/index.js");
  const { manifest, faults } = await checkBackup(dir, progress.update);
  progress.end();
  const outcome = { dir: resolve(dir), whole: faults.length === 0, faults, ...summaryOf(manifest) };
  if (faults.length > 0) throw new CommandError(faults.join("\n"), exitCodes.found, outcome);
  print(
    options,
    outcome,
    () => `${outcome.dir} is whole, taken at ${manifest.takenAt}\n${contentsOf(manifest)}`,
  );
}

/** The ids as they stand in the file; only a line's end is not part of its id. */
function forgottenIn({ forget }: RestoreOptions): string[] {
  return forget === undefined ? [] : readFileSync(forget, "utf8").split(/\r?\n/).filter(Boolean);
}

async function restore(dir: string, options: RestoreOptions, progress: Shown): Promise<void> {
  const { restoreService } = await import("../../service/index.js");
  const place = await storageOf(options);
  const began = performance.now();
  const manifest = await restoreService(place, dir, progress.update, forgottenIn(options));
  progress.end();
  const seconds = Math.round(performance.now() - began) / 1000;
  const outcome = { dir: resolve(dir), ...summaryOf(manifest), seconds };
  const hasKey = manifest.files.some(({ name }) => name === "key");
  print(options, outcome, () => {
    const into = place.store === undefined ? resolve(place.dataDir) : "the database";
    const key =
      place.store !== undefined && hasKey
        ? `Serve it with RECOMMENDER_API_KEY as in ${resolve(dir, "key")}\n`
        : "";
    return `Restored ${dir} into ${into}\n${contentsOf(manifest)}${key}`;
  });
}
