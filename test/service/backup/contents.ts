import { spawn } from "node:child_process";
import { readManifest, rowsIn, tableOf } from "../../../service/backup/manifest";
import { command, type Ended, ended } from "../process";

/** Returns all rows of a backup by table, sorted, so backups of different databases can be compared. */
export async function contentsOf(dir: string): Promise<Record<string, string[]>> {
  const contents: Record<string, string[]> = {};
  const { files } = readManifest(dir);
  for (const file of files) {
    const table = tableOf(file.name) ?? file.name;
    const lines =
      table === file.name
        ? [file.sha256]
        : (await rowsIn(dir, file)).map((row) => JSON.stringify(Object.entries(row).sort()));
    contents[table] = [...(contents[table] ?? []), ...lines].sort();
  }
  return contents;
}

/** Starts the command line. */
export function start(...options: string[]) {
  return spawn(process.execPath, [command, ...options], { stdio: ["ignore", "pipe", "pipe"] });
}

/** Runs the command line and expects it to succeed. */
export async function done(...options: string[]): Promise<Ended> {
  const outcome = await ended(start(...options));
  expect(outcome).toMatchObject({ code: 0 });
  return outcome;
}
