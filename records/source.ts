import { createHash } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { extname, isAbsolute, join, relative, resolve } from "node:path";
import { extensions, type Format, readers } from "./formats/format";
import { parquetShape } from "./formats/parquet";
import { type Rows, SourceError } from "./formats/row";
import { bytesOf, type Readable } from "./formats/text";
import { inlineFormat, isInline, readInline } from "./inline";
import type { Mapping } from "./mapping/mapping";
import { isRejectsFile } from "./rejects-file";

/** Begins what stands for a source that cannot be read; why follows. */
export const unreadable = "unreadable: ";

/** File systems count time in steps; two changes that are further apart than this have times of their own. */
const settledMs = 3_000;

/** One file of a source. */
export interface SourceFile extends Readable {
  readonly format: Format;
  /** When it was last changed, in milliseconds. */
  readonly changedMs: number;
  /** What differs after any change of it; none where a change of this moment could leave it the same. */
  readonly version?: string | undefined;
}

/** The files of a source: one file, or those that a glob finds, by name; a glob never finds a rejects file. */
export async function findFiles(source: string, format?: Format): Promise<SourceFile[]> {
  if (isInline(source)) return [inlineFile(readInline(source), inlineFormat(source) as Format)];
  const found = await stat(source).catch(() => undefined);
  if (found?.isFile()) return [await describe(resolve(source), shownPath(source), format)];
  if (found?.isDirectory()) {
    const example = join(shownPath(source), "*.csv");
    throw new SourceError(shownPath(source), undefined, `is a folder; name its files, as in ${example}`);
  }
  if (found) {
    throw new SourceError(
      shownPath(source),
      undefined,
      "is a pipe or a device, and a source is read more than once; write it to a file first",
    );
  }
  const { glob, isDynamicPattern } = require("tinyglobby") as typeof import("tinyglobby");
  if (!isDynamicPattern(source)) {
    throw new SourceError(shownPath(source), undefined, `there is no such file in ${process.cwd()}`);
  }
  const matching = (await glob(source, { absolute: true })).sort();
  const isOwn = await Promise.all(matching.map(isRejectsFile));
  const paths = matching.filter((_, at) => !isOwn[at]);
  if (paths.length === 0) {
    throw new SourceError(source, undefined, `no file in ${process.cwd()} has a name like this`);
  }
  return Promise.all(paths.map((path) => describe(path, shownPath(path), format)));
}

/** Records that the program holds, as a file of a source. */
export function inlineFile(content: Buffer, format: Format = "ndjson"): SourceFile {
  const displayName = "the records in the program";
  return { path: "", displayName, gzip: false, format, content, bytes: content.length, changedMs: 0 };
}

/** The rows of a file. */
export function readRows(file: SourceFile, onBytes: (count: number) => void = () => undefined): Rows {
  return readers[file.format](file, onBytes);
}

/** A name for what a source holds: it changes with the files' bytes and order, their forms and the mapping. */
export async function contentHash(files: readonly SourceFile[], mapping: Mapping): Promise<string> {
  const hash = createHash("sha256");
  hash.update(JSON.stringify(Object.entries(mapping).sort(([a], [b]) => (a < b ? -1 : 1))));
  for (const file of files) hash.update(`\n${file.format} ${await digestOf(file)}`);
  return `sha256:${hash.digest("hex")}`;
}

/** Digests of files by their versions: one run asks for that of a file up to three times. */
const digests = new Map<string, string>();

async function digestOf(file: SourceFile): Promise<string> {
  const { version = "" } = file;
  const known = digests.get(version);
  if (known) return known;
  const hash = createHash("sha256");
  // Packed files as they are.
  for await (const chunk of bytesOf({ ...file, gzip: false }, () => undefined)) hash.update(chunk);
  const digest = hash.digest("hex");
  if (version) digests.set(version, digest);
  return digest;
}

/** How many records the files hold at most, found without parsing them. */
export async function atMostRecords(files: readonly SourceFile[]): Promise<number> {
  let count = 0;
  for (const file of files) {
    if (file.format === "parquet") count += (await parquetShape(file)).rowCount;
    // Each member of a JSON array has a brace, and each record of the other forms a line.
    else count += file.format === "json" ? await countBytes(file, 0x7b) : await countLines(file);
  }
  return count;
}

/** The size of a source. */
export function bytesIn(files: readonly SourceFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Checks that files are still those that were surveyed. */
export async function assertUnchanged(files: readonly SourceFile[]): Promise<void> {
  for (const file of files) {
    if (file.content) continue;
    const now = await stat(file.path).catch(() => undefined);
    if (now?.size === file.bytes && now.mtimeMs === file.changedMs) continue;
    const what = now ? "was changed" : "was removed";
    throw new SourceError(file.displayName, undefined, `${what} while it was read; run the command again`);
  }
}

async function countLines(file: SourceFile, lineEnd = 0x0a): Promise<number> {
  let last: number | undefined;
  const ends = await countBytes(file, lineEnd, (chunk) => {
    last = chunk.at(-1) ?? last;
  });
  // A file without line feeds is one line, or its lines end in carriage returns.
  if (ends === 0 && lineEnd === 0x0a && file.format === "csv") return countLines(file, 0x0d);
  return last === undefined || last === lineEnd ? ends : ends + 1;
}

async function countBytes(file: SourceFile, byte: number, look?: (chunk: Buffer) => void): Promise<number> {
  let count = 0;
  try {
    for await (const chunk of bytesOf(file, () => undefined)) {
      look?.(chunk);
      for (let at = chunk.indexOf(byte); at >= 0; at = chunk.indexOf(byte, at + 1)) count++;
    }
  } catch {
    // The reader of the rows reports what is wrong, and in which line.
    return Number.POSITIVE_INFINITY;
  }
  return count;
}

async function describe(path: string, displayName: string, format: Format | undefined): Promise<SourceFile> {
  const { size, mtimeMs, ctimeMs, ino } = await stat(path);
  const gzip = await isGzip(path);
  const found = format ?? extensions[extname(path.replace(/\.gz$/i, "")).toLowerCase()];
  const version =
    Date.now() - ctimeMs > settledMs ? [path, ino, size, mtimeMs, ctimeMs].join(" ") : undefined;
  if (found) return { path, displayName, format: found, gzip, bytes: size, changedMs: mtimeMs, version };
  const known = Object.keys(extensions).join(", ");
  throw new SourceError(displayName, undefined, `its name ends in none of ${known}; say which format it has`);
}

async function isGzip(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await file.close();
  }
}

function shownPath(path: string): string {
  const near = isAbsolute(path) ? relative(process.cwd(), path) : path;
  return near.startsWith("..") ? path : near;
}
