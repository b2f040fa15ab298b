// backup/ writes all data of a service to a directory, and restores it.

import { createHash } from "node:crypto";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { z } from "zod";
import { version } from "../../package.json";
import { writeAtomically } from "../files/data-directory";

/** Allowed file names. With other names, a restore could read or write files outside of the backup. */
const fileName =
  /^(tables\/[a-z_]+-\d+\.ndjson\.gz|models\/model-[0-9a-f]+|results\/job-[0-9a-f]+(\.\d+)?\.(json|\d+\.svg)|key|secret|tombstone-key)$/;

const entry = z.object({
  name: z.string().regex(fileName),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Number of rows, if the file is part of a table. */
  rows: z.int().nonnegative().optional(),
});

/** Version of the backup format. Version 2 added the file `tombstone-key`. */
const formatVersion = 2;

const schema = z.object({
  kind: z.literal("recommender-backup"),
  version: z.int().min(1).max(formatVersion),
  writtenBy: z.string(),
  takenAt: z.string(),
  /** Id of the data. Null if the data is from an early release without such ids. */
  instanceId: z.string().nullable(),
  rows: z.record(z.string(), z.int().nonnegative()),
  files: z.array(entry),
});

/** A file of a backup. */
export type Entry = z.output<typeof entry>;

/** List of the files in a backup. It is written last, so a backup with a manifest is complete. */
export type Manifest = z.output<typeof schema>;

export const manifestFile = "manifest.json";

/** Writes the manifest, which completes a backup. */
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
  writeAtomically(join(dir, manifestFile), `${JSON.stringify(manifest, undefined, 1)}\n`);
  return manifest;
}

export function readManifest(dir: string): Manifest {
  const path = join(dir, manifestFile);
  if (!existsSync(path))
    throw new Error(
      `There is no complete backup in ${dir}: it has no ${manifestFile}, which an export writes last. ` +
        `Pass the directory of a backup, or run the export again.`,
    );
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`Cannot read ${path} (${(error as Error).message}). Use another backup.`);
  }
  const { version: written = formatVersion } = (content ?? {}) as { version?: unknown };
  if (Number(written) > formatVersion)
    throw new Error(`${path} was written by a newer version of recommender. Update pulumi-recommender.`);
  const read = schema.safeParse(content);
  if (read.success) return read.data;
  const { path: at = [], message = "" } = read.error.issues[0] ?? {};
  throw new Error(
    `${path} is not the manifest of a backup (${[at.join("."), message].filter(Boolean).join(": ")}). ` +
      "Use another backup.",
  );
}

/**
 * Parses a file entry. Returns undefined if the line is invalid, for example because a killed process wrote half of it.
 */
export function parseEntry(line: string): Entry | undefined {
  try {
    return entry.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Returns the table whose rows a file contains, or undefined if the file does not contain rows. */
export function tableOf(name: string): string | undefined {
  return /^tables\/([a-z_]+)-\d+\./.exec(name)?.[1];
}

/** Checks all files of a backup. @returns a message for each damaged or missing file */
export async function checkFiles(
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

/** Reads a file in chunks. Fails at the end if its size or hash differs from the manifest. */
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
  if (length !== bytes) throw new Error(`${path} is damaged: it has ${length} bytes instead of ${bytes}.`);
  if (hash.digest("hex") !== sha256)
    throw new Error(`${path} is damaged: its SHA-256 differs from the manifest.`);
}

/** Reads the rows of a file. */
export async function rowsIn(dir: string, file: Entry): Promise<Record<string, unknown>[]> {
  const packed: Buffer[] = [];
  for await (const piece of contentOf(dir, file)) packed.push(piece);
  const text = (await promisify(gunzip)(Buffer.concat(packed))).toString("utf8");
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Reads a small text file. Returns undefined if the backup does not contain it. */
export async function textIn(dir: string, manifest: Manifest, name: string): Promise<string | undefined> {
  const exists = manifest.files.some((file) => file.name === name);
  return exists ? (await readFile(join(dir, name), "utf8")).trim() : undefined;
}
