import { type FileHandle, mkdir, open, readFile, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** How often a lock that somebody else holds is tried again: for 10 s, although it is held for milliseconds. */
const attempts = 200;
const pauseMs = 50;

/**
 * Works on a file that nobody else works on meanwhile, on this machine or on another that shares the folder.
 * A lock is never broken: whether its owner still runs cannot be known from another machine.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  await mkdir(dirname(path), { recursive: true });
  await acquire(lock);
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function acquire(lock: string): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const file = await create(lock);
    if (file) {
      await file.writeFile(`process ${process.pid} on ${hostname()}, ${new Date().toISOString()}\n`);
      await file.close();
      return;
    }
    await sleep(pauseMs);
  }
  const owner = (await readFile(lock, "utf8").catch(() => "")).trim();
  throw new Error(
    `${lock} is locked${owner && ` by ${owner}`}. If that process no longer runs, delete the file: rm '${lock}'`,
  );
}

/** @returns undefined if the file exists. */
async function create(lock: string): Promise<FileHandle | undefined> {
  try {
    return await open(lock, "wx");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  }
}
