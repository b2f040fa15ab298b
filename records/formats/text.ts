import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { SourceError } from "./row";

const readBytes = 256 * 1024;

/** A file to be read, and a callback for the progress. */
export interface Readable {
  readonly path: string;
  /** How messages name it. */
  readonly displayName: string;
  readonly gzip: boolean;
  /** How many bytes it had when it was looked at; what has been appended since is not read. */
  readonly bytes: number;
  /** What it holds, where that is in memory and not in a file. */
  readonly content?: Buffer;
}

/** The bytes of a file, unpacked where it is packed. */
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

/** The text of a file without its byte order mark, cut anywhere between characters. */
export async function* textOf(
  file: Readable,
  onBytes: (count: number) => void,
  lineNow: () => number,
): AsyncIterable<string> {
  let rest: Buffer | undefined;
  let first = true;
  const checked = (bytes: Buffer) => {
    if (!isUtf8(bytes)) {
      throw new SourceError(file.displayName, undefined, `is not UTF-8 text, at or after line ${lineNow()}`);
    }
    const text = bytes.toString("utf8");
    const marked = first && text.charCodeAt(0) === 0xfeff;
    first = false;
    return marked ? text.slice(1) : text;
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
    throw new SourceError(file.displayName, undefined, problemOf(error as NodeJS.ErrnoException, lineNow()));
  }
  if (rest) yield checked(rest);
}

/** After an ASCII byte no character is cut in two. */
function lastAscii(bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= 0; at--) if ((bytes[at] as number) < 0x80) return at;
  return -1;
}

function problemOf(error: NodeJS.ErrnoException, line: number): string {
  if (error.code === "Z_BUF_ERROR") {
    return `the gzip file is cut short: it ends inside its data, after line ${line}; fetch or pack it again`;
  }
  if (error.code?.startsWith("Z_")) return `the gzip file is damaged after line ${line}: ${error.message}`;
  return `cannot be read: ${error.message}`;
}
