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

/** Files in the data directory. */
export class DirectoryFiles implements Files {
  readonly isTrusted = true;
  readonly location: Location;

  constructor(private readonly directory: string) {
    this.location = { directory };
  }

  get label(): string {
    return this.directory;
  }

  /** Does nothing, because the service creates the directory when it starts. */
  async check(): Promise<void> {}

  async write(name: string, content: Content): Promise<void> {
    try {
      await writePieces(join(this.directory, name), content);
    } catch (error) {
      const { message } = error as Error;
      throw new Error(
        `Cannot write ${name} to ${this.directory} (${message}). Check the disk space and the permissions.`,
        {
          cause: error,
        },
      );
    }
  }

  async read(name: string): Promise<Reading | undefined> {
    const file = await this.open(name);
    return file && { bytes: (await file.stat()).size, stream: file.createReadStream() };
  }

  open(name: string): Promise<FileHandle | undefined> {
    return undefinedIfMissing(open(join(this.directory, name)));
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.directory, name), { force: true });
  }

  async list(prefix: string): Promise<Listed[]> {
    const [directory = "", begin = ""] = prefix.split("/");
    const names = (await undefinedIfMissing(readdir(join(this.directory, directory)))) ?? [];
    const files = names
      .filter((name) => name.startsWith(begin))
      .map((name) => this.listed(`${directory}/${name}`));
    return (await Promise.all(files)).filter((file) => file !== undefined);
  }

  async link(): Promise<undefined> {
    return undefined;
  }

  async cleanUp(afterMs = abandonedAfterMs): Promise<void> {
    for (const directory of ["models/", "results/"]) {
      for (const { name, writtenTs } of await this.list(directory))
        if (/\.part$/.test(name) && Date.now() - writtenTs >= afterMs) await this.remove(name);
    }
  }

  /** The files are local, so there are no copies. */
  async cleanUpCopies(): Promise<void> {}

  close(): void {}

  private async listed(name: string): Promise<Listed | undefined> {
    const found = await undefinedIfMissing(stat(join(this.directory, name)));
    return found && { name, writtenTs: found.mtimeMs };
  }
}

/** Writes a file completely or not at all, like `writeAtomically`, but from a stream of pieces. */
async function writePieces(file: string, content: Content): Promise<void> {
  const part = `${file}.${process.pid}.part`;
  try {
    await synced(part, "w", async (opened) => {
      // Appends: writeFile of a handle continues at its position.
      for await (const piece of content) await opened.writeFile(piece);
    });
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  // Makes the new name durable. Windows cannot open directories.
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

/** Returns undefined instead of an error if a file does not exist. */
export async function undefinedIfMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
