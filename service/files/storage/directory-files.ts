import { type FileHandle, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  abandonedAfterMs,
  type Content,
  type Files,
  type Listed,
  type Location,
  type Reading,
} from "./files";

/** Files in a folder of the service's own. */
export class DirectoryFiles implements Files {
  readonly isTrusted = true;
  readonly location: Location;

  constructor(private readonly folder: string) {
    this.location = { folder };
  }

  get label(): string {
    return this.folder;
  }

  /** The start of a service has made the folder. */
  async check(): Promise<void> {}

  async write(name: string, content: Content): Promise<void> {
    try {
      await writeWhole(join(this.folder, name), content);
    } catch (error) {
      const { message } = error as Error;
      throw new Error(`${name} cannot be written to ${this.folder} (${message}); free space there.`, {
        cause: error,
      });
    }
  }

  async read(name: string): Promise<Reading | undefined> {
    const file = await this.open(name);
    return file && { bytes: (await file.stat()).size, stream: file.createReadStream() };
  }

  open(name: string): Promise<FileHandle | undefined> {
    return undefinedIfMissing(open(join(this.folder, name)));
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.folder, name), { force: true });
  }

  async list(prefix: string): Promise<Listed[]> {
    const [folder = "", begin = ""] = prefix.split("/");
    const names = (await undefinedIfMissing(readdir(join(this.folder, folder)))) ?? [];
    const files = names
      .filter((name) => name.startsWith(begin))
      .map((name) => this.listed(`${folder}/${name}`));
    return (await Promise.all(files)).filter((file) => file !== undefined);
  }

  async link(): Promise<undefined> {
    return undefined;
  }

  async cleanUp(afterMs = abandonedAfterMs): Promise<void> {
    for (const folder of ["models/", "results/"]) {
      for (const { name, writtenTs } of await this.list(folder))
        if (/\.part$/.test(name) && Date.now() - writtenTs >= afterMs) await this.remove(name);
    }
  }

  /** The files themselves are on this machine. */
  async cleanUpCopies(): Promise<void> {}

  close(): void {}

  private async listed(name: string): Promise<Listed | undefined> {
    const found = await undefinedIfMissing(stat(join(this.folder, name)));
    return found && { name, writtenTs: found.mtimeMs };
  }
}

/** Writes a file as a whole or not at all, and onto the disk, for a kill or a power loss may come at any moment. */
async function writeWhole(file: string, content: Content): Promise<void> {
  const part = `${file}.${process.pid}.part`;
  try {
    await synced(part, "w", async (opened) => {
      // Each piece goes after the one before.
      for await (const piece of content) await opened.writeFile(piece);
    });
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  // Windows has no such thing as an open folder.
  if (process.platform !== "win32") await synced(dirname(file), "r");
}

async function synced(
  path: string,
  flags: string,
  write?: (opened: FileHandle) => Promise<void>,
): Promise<void> {
  const opened = await open(path, flags, 0o600);
  try {
    await write?.(opened);
    await opened.sync();
  } finally {
    await opened.close();
  }
}

/** What was found, or undefined where there is nothing of that name. */
export async function undefinedIfMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
