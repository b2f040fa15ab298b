import { open, realpath, stat } from "node:fs/promises";

/** Number of bytes to read from a file to recognise a rejects file. */
const firstBytes = 64 * 1024;

/** File of a source. */
interface Source {
  readonly path: string;
  readonly displayName: string;
  readonly content?: Buffer | undefined;
}

/** Whether a file is a rejects file of this package, by its first line. */
export async function isRejectsFile(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(firstBytes), 0, firstBytes, 0);
    const [line = ""] = buffer.subarray(0, bytesRead).toString().split("\n", 1);
    // The record can be longer than the bytes that were read, so only the keys before it are checked.
    return /^\{"source":"(?:[^"\\]|\\.)*","line":\d+,(?:"id":"(?:[^"\\]|\\.)*",)?"reason":"/.test(line);
  } finally {
    await file.close();
  }
}

/**
 * Fails if the path for rejected records is a source, also through a link, or any other file that is not a rejects file:
 * it would be overwritten.
 */
export async function assertRejectsFile(path: string, sources: readonly Source[]): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return;
  const choose = "Choose a different file (rejectsFile, --rejects).";
  const real = await realpath(path);
  for (const { path: source, displayName, content } of sources) {
    if (content) continue;
    const { dev, ino } = await stat(source);
    if ((dev === found.dev && ino === found.ino) || (await realpath(source)) === real)
      throw new Error(`the rejects file ${path} is the source ${displayName}. ${choose}`);
  }
  if (found.size > 0 && !(await isRejectsFile(path)))
    throw new Error(`${path} exists and is not a rejects file, so it is not overwritten. ${choose}`);
}
