import {
  appendFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { contentOf, type Entry, parseEntry } from "./manifest";

/** File that lists the models that an unfinished export has copied, one per line. */
const listFile = "copied.ndjson";

/** A copied model. `version` increases whenever forgotten users are removed from the model. */
export interface Copied {
  readonly entry: Entry;
  readonly version: number;
}

/**
 * Returns the models that an interrupted export copied completely, so they are not copied again. Deletes all other
 * model files from the backup. Rows are not reused, because all rows have to be from the same moment.
 */
export async function copiedBefore(dir: string): Promise<Map<string, Copied>> {
  const list = join(dir, listFile);
  const lines = existsSync(list) ? readFileSync(list, "utf8").split("\n") : [];
  const intact = new Map<string, Copied>();
  for (const line of lines) {
    const entry = parseEntry(line);
    if (entry?.name.startsWith("models/") && (await isIntact(dir, entry)))
      intact.set(entry.name, { entry, version: versionIn(line) });
  }
  for (const name of readdirSync(join(dir, "models")).map((file) => `models/${file}`))
    if (!intact.has(name)) rmSync(join(dir, name), { recursive: true });
  writeFileSync(list, [...intact.values()].map(lineOf).join(""), { mode: 0o600 });
  return intact;
}

/** Adds a model to the list. */
export function addCopied(dir: string, copied: Copied): void {
  appendFileSync(join(dir, listFile), lineOf(copied));
}

/** Deletes the list of copied models. Call it after the manifest is written. */
export function removeCopiedList(dir: string): void {
  rmSync(join(dir, listFile), { force: true });
}

function lineOf({ entry, version }: Copied): string {
  return `${JSON.stringify({ ...entry, version })}\n`;
}

function versionIn(line: string): number {
  const { version } = JSON.parse(line) as { version?: unknown };
  return typeof version === "number" ? version : 0;
}

async function isIntact(dir: string, entry: Entry): Promise<boolean> {
  try {
    if (!lstatSync(join(dir, entry.name)).isFile()) return false;
    for await (const _ of contentOf(dir, entry));
    return true;
  } catch {
    return false;
  }
}
