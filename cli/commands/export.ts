import { resolve } from "node:path";
import type { Command } from "commander";
import type { Manifest } from "../../service";
import { type StorageOptions, storageOf, withStorage } from "../stack/data-directory";
import { onInterrupt } from "../terminal/exit";
import {
  formatCount,
  formatNumber,
  note,
  type OutputOptions,
  print,
  withJsonErrors,
} from "../terminal/output";
import { rowProgress } from "../terminal/progress";

const help = `
The service may run, and be written to: the backup is as the service was at one
moment. An export that was broken off left no backup. The same command makes it,
and copies only the models that are not in the folder yet. The folder holds all
records, the API key and the secret that signs tokens: keep it as you keep the
service's own.

Examples:
  recommender export backup-monday
  recommender export backup-monday --stack dev
  recommender export backup-monday --store postgres://db/recommender`;

/** Adds `recommender export`. */
export function addExport(program: Command): void {
  withStorage(
    program.command("export").description("Write everything that a service keeps into a folder: a backup."),
  )
    .argument("<dir>", "a new or empty folder")
    .option("--json", "print one line of JSON")
    .addHelpText("after", help)
    .action((dir: string, options: StorageOptions & OutputOptions) =>
      withJsonErrors(options, async () => {
        const { exportService } = await import("../../service/index.js");
        const place = await storageOf(options);
        const progress = rowProgress(options);
        const callOff = onInterrupt(() => {
          progress.end();
          note("Interrupted; the same command goes on.");
        });
        const began = performance.now();
        const manifest = await exportService(place, dir, progress.update).finally(() => {
          progress.end();
          callOff();
        });
        const seconds = Math.round(performance.now() - began) / 1000;
        const outcome = { dir: resolve(dir), ...summaryOf(manifest), seconds };
        print(options, outcome, () => `Exported to ${outcome.dir}\n${contentsOf(manifest)}`);
      }),
    );
}

/** What a backup holds, for whoever reads JSON. */
export function summaryOf({ takenAt, writtenBy, instanceId, rows, files }: Manifest) {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { takenAt, writtenBy, instanceId, rows, files: files.length, bytes };
}

/** What a backup holds, for people. */
export function contentsOf({ rows, files }: Manifest): string {
  const megabytes = files.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
  const count = (table: string, noun: string) => formatCount(rows[table] ?? 0, noun);
  return (
    `${count("datasets", "dataset")} with ${formatNumber(rows.records ?? 0)} users and items` +
    ` and ${count("events", "event")}, ${count("projects", "project")}, ${count("models", "model")}, ` +
    `${count("jobs", "job")}: ${megabytes.toFixed(1)} MB\n`
  );
}
