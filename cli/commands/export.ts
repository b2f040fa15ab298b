import { resolve } from "node:path";
import type { Command } from "commander";
import type { Manifest } from "../../service";
import { type StorageOptions, storageOf, withStorage } from "../stack/data-directory";
import { formatCount, formatNumber, type OutputOptions, print, withJsonErrors } from "../terminal/output";
import { rowProgress, withProgress } from "../terminal/progress";

const help = `
The service may keep running: the backup is a consistent snapshot. An
interrupted export leaves no valid backup. Run the same command again to finish
it; it skips models that are already copied. The backup contains all records,
the API key and the secret that signs tokens. Protect it like the service's
data.

Examples:
  recommender export backup-monday
  recommender export backup-monday --stack dev
  recommender export backup-monday --store postgres://db/recommender`;

/** Adds `recommender export`. */
export function addExport(program: Command): void {
  withStorage(program.command("export").description("Write a backup of a service to a directory."))
    .argument("<dir>", "new or empty directory")
    .option("--json", "print the result as one line of JSON")
    .addHelpText("after", help)
    .action((dir: string, options: StorageOptions & OutputOptions) =>
      withJsonErrors(options, async () => {
        const { exportService } = await import("../../service/index.js");
        const place = await storageOf(options);
        const progress = rowProgress(options);
        const began = performance.now();
        const message = () => "Interrupted. Run the same command again to continue.";
        const manifest = await withProgress(progress, message, () =>
          exportService(place, dir, progress.update),
        );
        const seconds = Math.round(performance.now() - began) / 1000;
        const outcome = { dir: resolve(dir), ...summaryOf(manifest), seconds };
        print(options, outcome, () => `Exported to ${outcome.dir}\n${contentsOf(manifest)}`);
      }),
    );
}

/** Returns a summary of a backup for `--json`. */
export function summaryOf({ takenAt, writtenBy, instanceId, rows, files }: Manifest) {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { takenAt, writtenBy, instanceId, rows, files: files.length, bytes };
}

/** Describes the contents of a backup in one line of text. */
export function contentsOf({ rows, files }: Manifest): string {
  const megabytes = files.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
  const count = (table: string, noun: string) => formatCount(rows[table] ?? 0, noun);
  return (
    `${count("datasets", "dataset")} with ${formatNumber(rows.records ?? 0)} users and items` +
    ` and ${count("events", "event")}, ${count("projects", "project")}, ${count("models", "model")}, ` +
    `${count("jobs", "job")}: ${megabytes.toFixed(1)} MB\n`
  );
}
