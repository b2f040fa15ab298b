import { createHash } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { extname, isAbsolute, join, relative, resolve } from "node:path";
import { extensions, type Format, readers } from "./formats/format";
import { parquetShape } from "./formats/parquet";
import { type Rows, SourceError } from "./formats/row";
import { bytesOf, type Readable } from "./formats/text";
import { inlineFormat, isInline, readInline } from "./inline";
import type { Mapping } from "./mapping/mapping";
import { isLikeRejectsFile } from "./rejects-file";
import { remoteSourceAt } from "./sources/address";
import type { RemoteSource } from "./sources/remote-source";
import { SourceCopy } from "./sources/source-copy";
import { spool } from "./sources/spool";

/** Prefix of the text that replaces the argument `source` if the source cannot be read. The reason follows. */
export const unreadable = "unreadable: ";

/** Coarsest resolution of file times. Two changes within this time may have the same file time. */
const timestampStepMs = 3_000;

/** File of a source. */
export interface SourceFile extends Readable {
  readonly format: Format;
  /** Time of the last change, in milliseconds. */
  readonly changedMs: number;
  /**
   * Text that differs after each change of the file. Undefined if the file changed so recently that another change
   * might go unnoticed.
   */
  readonly version?: string | undefined;
  /** Whether the file is a copy of a remote source. */
  readonly isCopy?: true;
  /** For a copy of a remote source: the version of its content at the source, if known. */
  readonly remoteVersion?: string | undefined;
}

/**
 * Finds the files of a source: one file, or all that match a glob, sorted by name and without rejects files. A remote
 * source is first copied to a file, which this process deletes when it exits.
 */
export async function findFiles(source: string, format?: Format): Promise<SourceFile[]> {
  if (isInline(source)) return [inlineFile(readInline(source), inlineFormat(source) as Format)];
  const remote = remoteSourceAt(source);
  if (remote) return [await copyOf(remote, format)];
  const found = await stat(source).catch(() => undefined);
  if (found?.isFile()) return [await describeFile(resolve(source), displayPath(source), format)];
  if (found?.isDirectory()) {
    const example = join(displayPath(source), "*.csv");
    throw new SourceError(
      displayPath(source),
      `is a directory; use a pattern for its files, such as ${example}`,
    );
  }
  if (found) {
    throw new SourceError(
      displayPath(source),
      "is a pipe or a device, but a source is read more than once; write it to a file first",
    );
  }
  const { glob, isDynamicPattern } = require("tinyglobby") as typeof import("tinyglobby");
  if (!isDynamicPattern(source)) {
    throw new SourceError(displayPath(source), `no such file (current directory: ${process.cwd()})`);
  }
  const matching = (await glob(source, { absolute: true })).sort();
  const areRejects = await Promise.all(matching.map(isLikeRejectsFile));
  const paths = matching.filter((_, at) => !areRejects[at]);
  if (paths.length === 0) {
    throw new SourceError(source, `no file matches this pattern (current directory: ${process.cwd()})`);
  }
  return Promise.all(paths.map((path) => describeFile(path, displayPath(path), format)));
}

/** Copies a remote source to a file. */
export async function copyOf(remote: RemoteSource, format?: Format): Promise<SourceFile> {
  const { displayName, fileName } = remote;
  if (remote.format && format && format !== remote.format)
    throw new SourceError(displayName, `always has the format ${remote.format}; remove the format ${format}`);
  // Checked first, so nobody waits for a long download to learn that the format is unknown.
  const known = formatOf(fileName, displayName, remote.format ?? format);
  const { path, result: remoteVersion } = await spool((file) =>
    remote.copyTo(new SourceCopy(file, displayName)),
  );
  // Every copy gets a new path and never changes, so the path can serve as its version.
  return { ...(await describeFile(path, displayName, known)), version: path, isCopy: true, remoteVersion };
}

/** Returns inline records as a file of a source. */
export function inlineFile(content: Buffer, format: Format = "ndjson"): SourceFile {
  const displayName = "the records in the program";
  return { path: "", displayName, gzip: false, format, content, bytes: content.length, changedMs: 0 };
}

/** Reads the rows of a file. */
export function readRows(file: SourceFile, onBytes: (count: number) => void = () => undefined): Rows {
  return readers[file.format](file, onBytes);
}

/** Hashes a source: the bytes, order and formats of its files, and the mapping. */
export async function contentHash(files: readonly SourceFile[], mapping: Mapping): Promise<string> {
  const hash = createHash("sha256");
  hash.update(JSON.stringify(Object.entries(mapping).sort(([a], [b]) => (a < b ? -1 : 1))));
  for (const file of files) hash.update(`\n${file.format} ${await digestOf(file)}`);
  return `sha256:${hash.digest("hex")}`;
}

/** Digests of files by version. One run needs the digest of a file up to three times. */
const digests = new Map<string, string>();

async function digestOf(file: SourceFile): Promise<string> {
  const { version = "" } = file;
  const known = digests.get(version);
  if (known) return known;
  const hash = createHash("sha256");
  // Compressed files are hashed without decompression.
  for await (const chunk of bytesOf({ ...file, gzip: false }, () => undefined)) hash.update(chunk);
  const digest = hash.digest("hex");
  if (version) digests.set(version, digest);
  return digest;
}

/** Returns an upper bound for the number of records, without parsing the files. */
export async function maxRecordCount(files: readonly SourceFile[]): Promise<number> {
  let count = 0;
  for (const file of files) {
    if (file.format === "parquet") count += (await parquetShape(file)).rowCount;
    // Each record has a brace in JSON, and a line in NDJSON and CSV.
    else count += file.format === "json" ? await countBytes(file, 0x7b) : await countLines(file);
  }
  return count;
}

/** Returns the size of a source in bytes. */
export function bytesIn(files: readonly SourceFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Throws if a file has changed since `findFiles` found it. */
export async function assertUnchanged(files: readonly SourceFile[]): Promise<void> {
  for (const file of files) {
    if (file.content) continue;
    const now = await stat(file.path).catch(() => undefined);
    if (now?.size === file.bytes && now.mtimeMs === file.changedMs) continue;
    const what = now ? "was changed" : "was removed";
    throw new SourceError(file.displayName, `${what} while it was read; run the command again`);
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

async function countBytes(
  file: SourceFile,
  byte: number,
  onChunk?: (chunk: Buffer) => void,
): Promise<number> {
  let count = 0;
  try {
    for await (const chunk of bytesOf(file, () => undefined)) {
      onChunk?.(chunk);
      for (let at = chunk.indexOf(byte); at >= 0; at = chunk.indexOf(byte, at + 1)) count++;
    }
  } catch {
    // Reading the rows reports the problem and its line.
    return Number.POSITIVE_INFINITY;
  }
  return count;
}

async function describeFile(
  path: string,
  displayName: string,
  format: Format | undefined,
): Promise<SourceFile> {
  const known = formatOf(path, displayName, format);
  const { size, mtimeMs, ctimeMs, ino } = await stat(path);
  const gzip = await isGzip(path);
  const version =
    Date.now() - ctimeMs > timestampStepMs ? [path, ino, size, mtimeMs, ctimeMs].join(" ") : undefined;
  return { path, displayName, format: known, gzip, bytes: size, changedMs: mtimeMs, version };
}

function formatOf(fileName: string, displayName: string, format: Format | undefined): Format {
  const found = format ?? extensions[extname(fileName.replace(/\.gz$/i, "")).toLowerCase()];
  if (found) return found;
  const known = Object.keys(extensions).join(", ");
  throw new SourceError(displayName, `unknown file extension; use one of ${known}, or set the format`);
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

function displayPath(path: string): string {
  const local = isAbsolute(path) ? relative(process.cwd(), path) : path;
  return local.startsWith("..") ? path : local;
}
