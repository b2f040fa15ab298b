import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { undefinedIfMissing } from "./directory-files";
import { type CopyOptions, copyName, type Reading } from "./files";

/** Local copies of remote files. If they take too much space, the least recently used copies are deleted. */
export class LocalCopies {
  constructor(
    private readonly directory: string,
    private readonly maxBytes = 10 * 1024 ** 3,
  ) {}

  /** Opens the copy of a file, which is downloaded if needed. Returns undefined if the file does not exist. */
  async open(
    name: string,
    fetch: () => Promise<Reading | undefined>,
    { refresh: anew = false, version = 0 }: CopyOptions = {},
  ): Promise<FileHandle | undefined> {
    const copy = join(this.directory, copyName(name, version));
    if (anew) await rm(copy, { force: true });
    const opened = await undefinedIfMissing(open(copy));
    if (opened) {
      await utimes(copy, new Date(), new Date()).catch(() => undefined);
      return opened;
    }
    const reading = await fetch();
    return reading && this.save(copy, reading);
  }

  /** Deletes the copies of all versions of a file. */
  async remove(name: string): Promise<void> {
    const copy = basename(name);
    for (const { file } of await this.copies())
      if (basename(file) === copy || basename(file).startsWith(`${copy}.v`)) await rm(file, { force: true });
  }

  /** Deletes all copies except the given names, and the remains of interrupted downloads. */
  async cleanUp(existing: ReadonlySet<string>, afterMs: number): Promise<void> {
    for (const { file, usedTs } of await this.copies()) {
      const isOld = Date.now() - usedTs >= afterMs;
      if (/\.part$/.test(file) ? isOld : !existing.has(basename(file))) await rm(file, { force: true });
    }
  }

  private async save(copy: string, { bytes, stream }: Reading): Promise<FileHandle> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const part = `${copy}.${randomUUID()}.part`;
    try {
      await pipeline(stream, createWriteStream(part, { mode: 0o600, flags: "wx" }));
      const { size } = await stat(part);
      if (size !== bytes) throw new Error(`only ${size} of ${bytes} bytes arrived`);
      // Opens the file before it gets its final name. After that, another process may delete it to make room.
      const opened = await open(part);
      await rename(part, copy);
      await this.makeRoom(copy);
      return opened;
    } catch (error) {
      await rm(part, { force: true });
      const { message } = error as Error;
      throw new Error(
        `Cannot copy ${basename(copy)} from the storage to ${this.directory} (${message}). ` +
          "Check the disk space in that directory, and whether the storage can be reached.",
        { cause: error },
      );
    }
  }

  /**
   * Deletes copies until the rest is within the size limit. Deletes the newest copy only if it alone exceeds the limit.
   */
  private async makeRoom(newest: string): Promise<void> {
    const isNewest = ({ file }: { file: string }) => Number(file === newest);
    const copies = (await this.copies())
      .filter(({ file }) => !/\.part$/.test(file))
      .sort((a, b) => isNewest(a) - isNewest(b) || a.usedTs - b.usedTs);
    let total = copies.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { file, bytes } of copies) {
      if (total <= this.maxBytes) return;
      await rm(file, { force: true });
      total -= bytes;
    }
  }

  private async copies(): Promise<{ file: string; bytes: number; usedTs: number }[]> {
    const names = (await undefinedIfMissing(readdir(this.directory))) ?? [];
    const copies = names.map(async (name) => {
      const file = join(this.directory, name);
      const found = await undefinedIfMissing(stat(file));
      return found && { file, bytes: found.size, usedTs: found.mtimeMs };
    });
    return (await Promise.all(copies)).filter((copy) => copy !== undefined);
  }
}
