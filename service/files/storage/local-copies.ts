import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { undefinedIfMissing } from "./directory-files";
import { type CopyOptions, copyName, type Reading } from "./files";

/** Copies on this machine of files that lie elsewhere and change only with their version; those not used for longest go first. */
export class LocalCopies {
  constructor(
    private readonly folder: string,
    private readonly maxBytes = 10 * 1024 ** 3,
  ) {}

  /** The copy of a file, fetched where there is none; undefined where there is no such file at all. */
  async open(
    name: string,
    fetch: () => Promise<Reading | undefined>,
    { refresh: anew = false, version = 0 }: CopyOptions = {},
  ): Promise<FileHandle | undefined> {
    const copy = join(this.folder, copyName(name, version));
    if (anew) await rm(copy, { force: true });
    const kept = await undefinedIfMissing(open(copy));
    if (kept) {
      await utimes(copy, new Date(), new Date()).catch(() => undefined);
      return kept;
    }
    const reading = await fetch();
    return reading && this.keep(copy, reading);
  }

  /** Removes the copies of a file in all versions. */
  async remove(name: string): Promise<void> {
    const own = basename(name);
    for (const { file } of await this.copies())
      if (basename(file) === own || basename(file).startsWith(`${own}.v`)) await rm(file, { force: true });
  }

  /** Removes all copies but those of the given names, and what broken-off writes left. */
  async tidy(existing: ReadonlySet<string>, afterMs: number): Promise<void> {
    for (const { file, usedTs } of await this.copies()) {
      const isOld = Date.now() - usedTs >= afterMs;
      if (/\.part$/.test(file) ? isOld : !existing.has(basename(file))) await rm(file, { force: true });
    }
  }

  private async keep(copy: string, { bytes, stream }: Reading): Promise<FileHandle> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const part = `${copy}.${randomUUID()}.part`;
    try {
      await pipeline(stream, createWriteStream(part, { mode: 0o600, flags: "wx" }));
      const { size } = await stat(part);
      if (size !== bytes) throw new Error(`only ${size} of ${bytes} bytes came`);
      // Opened before others can remove it to make room.
      const opened = await open(part);
      await rename(part, copy);
      await this.makeRoom(copy);
      return opened;
    } catch (error) {
      await rm(part, { force: true });
      const { message } = error as Error;
      throw new Error(`${basename(copy)} cannot be copied to ${this.folder} (${message}).`, { cause: error });
    }
  }

  /** The newest copy goes only where it alone is too large. */
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
    const names = (await undefinedIfMissing(readdir(this.folder))) ?? [];
    const copies = names.map(async (name) => {
      const file = join(this.folder, name);
      const found = await undefinedIfMissing(stat(file));
      return found && { file, bytes: found.size, usedTs: found.mtimeMs };
    });
    return (await Promise.all(copies)).filter((copy) => copy !== undefined);
  }
}
