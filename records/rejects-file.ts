import { open, realpath, stat } from "node:fs/promises";

/** Bytes that are read to recognise a rejects file; its lines are rarely longer. */
const firstBytes = 64 * 1024;

/** A file that may be among the sources. */
interface Candidate {
  readonly path: string;
  readonly displayName: string;
  readonly content?: Buffer | undefined;
}

/** Whether this package wrote a file as a rejects file, whatever its name. */
export async function isRejectsFile(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(firstBytes), 0, firstBytes, 0);
    const [line = ""] = buffer.subarray(0, bytesRead).toString().split("\n", 1);
    // A refused record can be longer than what was read: the keys before it are enough.
    return /^\{"source":"(?:[^"\\]|\\.)*","line":\d+,(?:"id":"(?:[^"\\]|\\.)*",)?"reason":"/.test(line);
  } finally {
    await file.close();
  }
}

/**
 * Refuses a path for refused records that leads to a source, by whatever name or link, or to any other file that is not a
 * rejects file: it would be overwritten.
 */
export async function assertRejectsFile(path: string, sources: readonly Candidate[]): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return;
  const choose = "Choose another file (rejectsFile, --rejects).";
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
