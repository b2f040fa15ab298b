import { resolve } from "node:path";
import type { Command } from "commander";
import { type StorageOptions, storageOf, withStorage } from "../stack/data-directory";
import { CommandError, exitCodes } from "../terminal/exit";
import { readIdFile } from "../terminal/id-file";
import { type OutputOptions, print, withJsonErrors } from "../terminal/output";
import { rowProgress, withProgress } from "../terminal/progress";
import { contentsOf, summaryOf } from "./export";

interface RestoreOptions extends StorageOptions, OutputOptions {
  readonly check?: true;
  readonly forget?: string;
}

const help = `
All ids stay the same, so Pulumi stacks keep working. The target must be empty,
and no service may use it. An interrupted restore leaves no usable data. Run the
same command again to finish it; it skips models that are already copied. Jobs
that were running at the time of the backup run again.

A backup still contains users who were forgotten later. List their ids in a
file, one per line, and pass it with --forget. Then results of queries,
clusterings and recommendation jobs are not restored, because they contain
users.

Exit codes:
  0  everything was restored, or with --check the backup is intact
  1  nothing was restored
  2  --check found damaged files, which are listed
  3  a service is using the data directory or the database

Examples:
  recommender restore backup-monday --data ./restored
  recommender restore backup-monday --store postgres://db/recommender
  recommender restore backup-monday --data ./restored --forget forgotten.txt
  recommender restore backup-monday --check`;

/** Adds `recommender restore`. */
export function addRestore(program: Command): void {
  withStorage(
    program.command("restore").description("Restore a backup into an empty data directory or database."),
  )
    .argument("<dir>", "directory that `recommender export` wrote")
    .option("--check", "only verify the files of the backup")
    .option("--forget <file>", "file with ids of users to leave out, one per line")
    .option("--json", "print the result as one line of JSON")
    .addHelpText("after", help)
    .action((dir: string, options: RestoreOptions) =>
      withJsonErrors(options, async () => {
        const progress = rowProgress(options);
        const message = () => (options.check ? "Interrupted." : "Interrupted. Nothing was restored.");
        await withProgress(progress, message, () =>
          (options.check ? check : restore)(dir, options, progress),
        );
      }),
    );
}

type Progress = ReturnType<typeof rowProgress>;

async function check(dir: string, options: RestoreOptions, progress: Progress): Promise<void> {
  const { checkBackup } = await import("../../service/index.js");
  const { manifest, faults } = await checkBackup(dir, progress.update);
  progress.end();
  const outcome = { dir: resolve(dir), whole: faults.length === 0, faults, ...summaryOf(manifest) };
  if (faults.length > 0) throw new CommandError(faults.join("\n"), exitCodes.found, outcome);
  print(
    options,
    outcome,
    () => `${outcome.dir} is intact, taken at ${manifest.takenAt}\n${contentsOf(manifest)}`,
  );
}

async function restore(dir: string, options: RestoreOptions, progress: Progress): Promise<void> {
  const { restoreService } = await import("../../service/index.js");
  const place = await storageOf(options);
  const forgotten = options.forget === undefined ? [] : readIdFile(options.forget);
  const began = performance.now();
  const manifest = await restoreService(place, dir, progress.update, forgotten);
  progress.end();
  const seconds = Math.round(performance.now() - began) / 1000;
  const outcome = { dir: resolve(dir), ...summaryOf(manifest), seconds };
  const hasKey = manifest.files.some(({ name }) => name === "key");
  print(options, outcome, () => {
    const into = place.store === undefined ? resolve(place.dataDir) : "the database";
    const key =
      place.store !== undefined && hasKey
        ? `Start the service with RECOMMENDER_API_KEY from ${resolve(dir, "key")}\n`
        : "";
    return `Restored ${dir} into ${into}\n${contentsOf(manifest)}${key}`;
  });
}
