import { type FileHandle, statfs } from "node:fs/promises";
import { SourceError } from "../formats/row";
import { spoolDirectory } from "./spool";

/** Variable that sets the maximum size of a copy. A source without an end would fill the disk. */
const limitVariable = "RECOMMENDER_SOURCE_MAX_MB";
const defaultLimitMb = 100_000;

/** Local file with the content of a remote source. */
export class SourceCopy {
  /** Number of bytes so far. */
  size = 0;
  readonly #limit = limitBytes();

  constructor(
    private readonly file: FileHandle,
    private readonly displayName: string,
  ) {}

  /** Appends a part of the content. Throws if it is a web page, too large, or does not fit on the disk. */
  async append(chunk: Buffer): Promise<void> {
    // The source is a login page or an error page, which often has the status 200.
    if (this.size === 0 && /^\s*<(!doctype html|html)/i.test(chunk.toString("latin1", 0, 64)))
      throw this.webPageError();
    if (this.size + chunk.length > this.#limit)
      throw this.#error(
        `has more than ${gigabytes(this.#limit)} GB and may have no end; check the address, or raise ${limitVariable}`,
      );
    // A full disk may store only a part of a chunk. The next write then fails.
    for (let at = 0; at < chunk.length; ) {
      const { bytesWritten } = await this.file
        .write(chunk, at, chunk.length - at, this.size)
        .catch((error) => Promise.reject(this.#diskError(error)));
      at += bytesWritten;
      this.size += bytesWritten;
    }
  }

  /** Deletes the content so far. */
  async startOver(): Promise<void> {
    this.size = 0;
    await this.file.truncate(0);
  }

  /** Throws if more bytes are announced than the disk has room for. */
  async assertRoom(bytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(spoolDirectory());
    if (bytes <= bavail * bsize) return;
    const needed = `${gigabytes(bytes)} GB, but ${spoolDirectory()} has ${gigabytes(bavail * bsize)} GB free`;
    throw this.#error(
      `needs ${needed}; free some space, or set XDG_STATE_HOME to a directory on a larger disk`,
    );
  }

  webPageError(): Error {
    return this.#error(
      "is a web page, not records; check the address, which may need a login or a link for downloads",
    );
  }

  #diskError(error: NodeJS.ErrnoException): Error {
    if (error.code !== "ENOSPC") return error;
    return this.#error(
      `does not fit on the disk of ${spoolDirectory()}; free some space, or set XDG_STATE_HOME to a directory on a larger disk`,
    );
  }

  #error(problem: string): Error {
    return new SourceError(this.displayName, problem);
  }
}

function limitBytes(env: NodeJS.ProcessEnv = process.env): number {
  const given = env[limitVariable] || String(defaultLimitMb);
  const megabytes = Number(given);
  if (Number.isInteger(megabytes) && megabytes > 0) return megabytes * 1e6;
  throw new Error(`${limitVariable} must be a whole number above 0, not ${JSON.stringify(given)}`);
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toLocaleString("en", { maximumFractionDigits: 3 });
}
