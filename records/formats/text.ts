import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { SourceError } from "./row";

const readBytes = 256 * 1024;

/** File or inline records to read. */
export interface Readable {
  readonly path: string;
  /** Name for messages. */
  readonly displayName: string;
  readonly gzip: boolean;
  /** Size when the file was found. Bytes that were appended later are not read. */
  readonly bytes: number;
  /** Content of inline records. */
  readonly content?: Buffer;
}

/** Reads the bytes of a file and decompresses gzip. */
export async function* bytesOf(file: Readable, onBytes: (count: number) => void): AsyncIterable<Buffer> {
  const { content, bytes } = file;
  if (content) {
    for (let at = 0; at < bytes; at += readBytes) yield content.subarray(at, at + readBytes);
    onBytes(bytes);
    return;
  }
  if (bytes === 0) return;
  const raw = createReadStream(file.path, { highWaterMark: readBytes, end: bytes - 1 });
  raw.on("data", (chunk) => onBytes(chunk.length));
  const stream = file.gzip ? pipeline(raw, createGunzip({ chunkSize: readBytes }), () => undefined) : raw;
  try {
    yield* stream as AsyncIterable<Buffer>;
  } finally {
    raw.destroy();
  }
}

/** Reads the text of a file in chunks, without the byte order mark. */
export async function* textOf(
  file: Readable,
  onBytes: (count: number) => void,
  currentLine: () => number,
): AsyncIterable<string> {
  let rest: Buffer | undefined;
  let first = true;
  const checked = (bytes: Buffer) => {
    if (!isUtf8(bytes)) {
      throw new SourceError(file.displayName, `is not UTF-8 text, at or after line ${currentLine()}`);
    }
    const text = bytes.toString("utf8");
    const hasMark = first && text.charCodeAt(0) === 0xfeff;
    first = false;
    return hasMark ? text.slice(1) : text;
  };
  try {
    for await (const chunk of bytesOf(file, onBytes)) {
      const bytes: Buffer = rest ? Buffer.concat([rest, chunk]) : chunk;
      const end = lastAscii(bytes) + 1;
      rest = end < bytes.length ? bytes.subarray(end) : undefined;
      if (end > 0) yield checked(bytes.subarray(0, end));
    }
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError(file.displayName, problemOf(error as NodeJS.ErrnoException, currentLine()));
  }
  if (rest) yield checked(rest);
}

/** Finds the last ASCII byte. Splitting after it never splits a character. */
function lastAscii(bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= 0; at--) if ((bytes[at] as number) < 0x80) return at;
  return -1;
}

function problemOf(error: NodeJS.ErrnoException, line: number): string {
  if (error.code === "Z_BUF_ERROR") {
    return `the gzip file is incomplete after line ${line}; download or compress it again`;
  }
  if (error.code?.startsWith("Z_")) return `the gzip file is damaged after line ${line}: ${error.message}`;
  return `cannot be read: ${error.message}`;
}
