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
import { contentOf, type Entry, entryIn } from "./manifest";

/** Lists the models that an unfinished export has copied, one in a line. */
const listFile = "copied.ndjson";

/** A model in a backup, and how often forgotten users had been removed from it by then. */
export interface Copied {
  readonly entry: Entry;
  readonly version: number;
}

/**
 * The models that an interrupted export left as it wrote them, which need not be copied again. Everything else among them
 * goes. Rows are not kept, for all of them must be of one moment.
 */
export async function copiedBefore(dir: string): Promise<Map<string, Copied>> {
  const list = join(dir, listFile);
  const lines = existsSync(list) ? readFileSync(list, "utf8").split("\n") : [];
  const kept = new Map<string, Copied>();
  for (const line of lines) {
    const entry = entryIn(line);
    if (entry?.name.startsWith("models/") && (await isWhole(dir, entry)))
      kept.set(entry.name, { entry, version: versionIn(line) });
  }
  for (const name of readdirSync(join(dir, "models")).map((file) => `models/${file}`))
    if (!kept.has(name)) rmSync(join(dir, name), { recursive: true });
  writeFileSync(list, [...kept.values()].map(lineOf).join(""), { mode: 0o600 });
  return kept;
}

/** Notes that a model was copied. */
export function noteCopied(dir: string, copied: Copied): void {
  appendFileSync(join(dir, listFile), lineOf(copied));
}

/** Forgets what was noted, when the manifest lists everything. */
export function forgetCopied(dir: string): void {
  rmSync(join(dir, listFile), { force: true });
}

function lineOf({ entry, version }: Copied): string {
  return `${JSON.stringify({ ...entry, version })}\n`;
}

function versionIn(line: string): number {
  const { version } = JSON.parse(line) as { version?: unknown };
  return typeof version === "number" ? version : 0;
}

async function isWhole(dir: string, entry: Entry): Promise<boolean> {
  try {
    if (!lstatSync(join(dir, entry.name)).isFile()) return false;
    for await (const _ of contentOf(dir, entry));
    return true;
  } catch {
    return false;
  }
}
