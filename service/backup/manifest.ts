// backup/ writes everything that a service keeps into a folder, and restores it from there.

import { createHash } from "node:crypto";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { z } from "zod";
import { version } from "../../package.json";
import { writeWhole } from "../files/folder";

/** The names that files of a backup may have: nothing outside its folder is ever read or written. */
const fileName =
  /^(tables\/[a-z_]+-\d+\.ndjson\.gz|models\/model-[0-9a-f]+|results\/job-[0-9a-f]+(\.\d+)?\.(json|\d+\.svg)|key|secret|tombstone-key)$/;

const entry = z.object({
  name: z.string().regex(fileName),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Only of a part of a table. */
  rows: z.int().nonnegative().optional(),
});

/** Version 2 has the file `tombstone-key`. */
const formatVersion = 2;

const schema = z.object({
  kind: z.literal("recommender-backup"),
  version: z.int().min(1).max(formatVersion),
  writtenBy: z.string(),
  takenAt: z.string(),
  /** Null in a folder that an early version wrote. */
  instanceId: z.string().nullable(),
  rows: z.record(z.string(), z.int().nonnegative()),
  files: z.array(entry),
});

/** A file of a backup. */
export type Entry = z.output<typeof entry>;

/** What a backup holds; it is written last, so that where there is one the backup is whole. */
export type Manifest = z.output<typeof schema>;

/** The file of the manifest. */
export const manifestFile = "manifest.json";

/** Ends a backup. */
export function writeManifest(
  dir: string,
  content: Pick<Manifest, "takenAt" | "instanceId" | "files">,
): Manifest {
  const rows: Record<string, number> = {};
  for (const { name, rows: count = 0 } of content.files) {
    const table = tableOf(name);
    if (table !== undefined) rows[table] = (rows[table] ?? 0) + count;
  }
  const manifest: Manifest = {
    kind: "recommender-backup",
    version: formatVersion,
    writtenBy: version,
    ...content,
    rows,
  };
  writeWhole(join(dir, manifestFile), `${JSON.stringify(manifest, undefined, 1)}\n`);
  return manifest;
}

/** Reads what a backup holds. */
export function readManifest(dir: string): Manifest {
  const path = join(dir, manifestFile);
  if (!existsSync(path))
    throw new Error(
      `There is no whole backup in ${dir}: it has no ${manifestFile}, which an export writes last. ` +
        `Name the folder of a backup, or run the export again that was to write it.`,
    );
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`${path} is damaged (${(error as Error).message}); use another backup.`);
  }
  const { version: written = formatVersion } = content as { version?: unknown };
  if (Number(written) > formatVersion)
    throw new Error(`${path} was written by a newer version of recommender; install that version.`);
  const read = schema.safeParse(content);
  if (read.success) return read.data;
  const { path: at = [], message = "" } = read.error.issues[0] ?? {};
  throw new Error(`${path} is not that of a backup (${at.join(".")}: ${message}); use another backup.`);
}

/** The file that a line of JSON describes; undefined where it does not, as one that a kill cut off. */
export function entryIn(line: string): Entry | undefined {
  try {
    return entry.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** The table that a file has rows of. */
export function tableOf(name: string): string | undefined {
  return /^tables\/([a-z_]+)-\d+\./.exec(name)?.[1];
}

/** What is wrong with the files of a backup, each in words that name it. */
export async function faultsIn(
  dir: string,
  manifest: Manifest,
  onRows: (rows: number) => void,
): Promise<string[]> {
  const faults: string[] = [];
  for (const file of manifest.files) {
    try {
      for await (const _ of contentOf(dir, file));
    } catch (error) {
      faults.push((error as Error).message);
    }
    onRows(file.rows ?? 0);
  }
  return faults;
}

/** The content of a file, piece by piece; fails at its end where it is not what the manifest says. */
export async function* contentOf(dir: string, { name, bytes, sha256 }: Entry): AsyncGenerator<Buffer> {
  const path = join(dir, name);
  const hash = createHash("sha256");
  let length = 0;
  try {
    for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(piece);
      length += piece.length;
      yield piece;
    }
  } catch (error) {
    throw new Error(`${path} cannot be read (${(error as Error).message}).`, { cause: error });
  }
  if (length !== bytes)
    throw new Error(`${path} is damaged: it has ${length} bytes, and ${bytes} were written.`);
  if (hash.digest("hex") !== sha256)
    throw new Error(`${path} is damaged: its SHA-256 is not the one that was written.`);
}

/** The rows in a part of a table. */
export async function rowsIn(dir: string, file: Entry): Promise<Record<string, unknown>[]> {
  const packed: Buffer[] = [];
  for await (const piece of contentOf(dir, file)) packed.push(piece);
  const text = (await promisify(gunzip)(Buffer.concat(packed))).toString("utf8");
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** A small file of a backup, if it has one of that name. */
export async function textIn(dir: string, manifest: Manifest, name: string): Promise<string | undefined> {
  const isThere = manifest.files.some((file) => file.name === name);
  return isThere ? (await readFile(join(dir, name), "utf8")).trim() : undefined;
}
