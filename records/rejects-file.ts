import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, realpath, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Number of bytes to read from a file to recognise a rejects file. */
const firstBytes = 64 * 1024;

/** Step to suggest if a file cannot be the rejects file. */
export const chooseFile = "Choose a different file (rejectsFile, --rejects).";

/** File of a source. */
interface Source {
  readonly path: string;
  readonly displayName: string;
  readonly content?: Buffer | undefined;
}

/** Formats a line of a rejects file. Its digest proves later that this package wrote the line and nobody changed it. */
export function rejectLine(reject: object): string {
  const text = JSON.stringify(reject);
  return `${text.slice(0, -1)},"digest":"${digestOf(text)}"}`;
}

const digestAtEnd = /,"digest":"([\da-f]{16})"\}$/;

function isRejectLine(line: string): boolean {
  const found = digestAtEnd.exec(line);
  return found !== null && found[1] === digestOf(`${line.slice(0, found.index)}}`);
}

function digestOf(text: string): string {
  return createHash("sha256").update(`pulumi-recommender rejected ${text}`).digest("hex").slice(0, 16);
}

/**
 * Whether a file looks like a rejects file, judging by its first line. Globs leave such files out. Before such a file
 * is overwritten, `assertRejectsFile` checks all of its lines.
 */
export async function isLikeRejectsFile(path: string): Promise<boolean> {
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
 * Throws if an upload must not replace the file at a path with its rejects file. The path must not be a source, even
 * through a link. An existing file must contain only lines that this package wrote. The path must not be a link to a
 * rejects file in another directory either, because that file may be an archive.
 */
export async function assertRejectsFile(path: string, sources: readonly Source[]): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory())
    throw new Error(`cannot write the rejects file: ${path} is a directory. ${chooseFile}`);
  if (!found?.isFile()) return;
  const real = await realpath(path);
  for (const { path: source, displayName, content } of sources) {
    if (content) continue;
    const { dev, ino } = await stat(source);
    if ((dev === found.dev && ino === found.ino) || (await realpath(source)) === real)
      throw new Error(`the rejects file ${path} is also the source ${displayName}. ${chooseFile}`);
  }
  if (!(await hasOnlyRejectLines(path)))
    throw new Error(
      `${path} exists and is not an unchanged rejects file, so it is not overwritten. ` +
        "Move or delete it, or choose a different file (rejectsFile, --rejects).",
    );
  if (dirname(real) !== (await realpath(dirname(path))))
    throw new Error(
      `${path} is a link to ${real}, which has the rejected records of an earlier upload, so it is not overwritten. ` +
        "Move that file, or choose a different one (rejectsFile, --rejects).",
    );
}

/** Deletes the rejects file of an earlier upload. Fails if an upload must not overwrite the file. */
export async function removeRejectsFile(path: string, sources: readonly Source[]): Promise<void> {
  await assertRejectsFile(path, sources);
  const found = await stat(path).catch(() => undefined);
  // Devices such as /dev/null are kept. If the path is a link, its target is deleted and the link is kept.
  if (found?.isFile()) await rm(await realpath(path), { force: true });
}

/**
 * Whether all lines of a file are unchanged lines of rejects files. False for an empty file, because nothing proves its
 * origin.
 */
async function hasOnlyRejectLines(path: string): Promise<boolean> {
  if (!(await isLikeRejectsFile(path))) return false;
  let rest = "";
  for await (const chunk of createReadStream(path, "utf8")) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() as string;
    if (!lines.every(isRejectLine)) return false;
  }
  return rest === "";
}
