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

/**
 * The models that an export which was broken off has left as it wrote them, so that they need not be copied again: a
 * model never changes. Whatever else lies among them goes. Rows are not kept, for all of them must be of one moment.
 */
export async function copiedBefore(dir: string): Promise<Map<string, Entry>> {
  const list = join(dir, listFile);
  const lines = existsSync(list) ? readFileSync(list, "utf8").split("\n") : [];
  const kept = new Map<string, Entry>();
  for (const line of lines) {
    const entry = entryIn(line);
    if (entry?.name.startsWith("models/") && (await isWhole(dir, entry))) kept.set(entry.name, entry);
  }
  for (const name of readdirSync(join(dir, "models")).map((file) => `models/${file}`))
    if (!kept.has(name)) rmSync(join(dir, name), { recursive: true });
  writeFileSync(list, [...kept.values()].map(lineOf).join(""), { mode: 0o600 });
  return kept;
}

/** Notes that a model was copied. */
export function noteCopied(dir: string, entry: Entry): void {
  appendFileSync(join(dir, listFile), lineOf(entry));
}

/** Forgets what was noted, when the manifest lists everything. */
export function forgetCopied(dir: string): void {
  rmSync(join(dir, listFile), { force: true });
}

function lineOf(entry: Entry): string {
  return `${JSON.stringify(entry)}\n`;
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
