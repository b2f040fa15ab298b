import { type FileHandle, mkdir, open, readFile, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Number of attempts to get a lock: up to 10 s in total. Locks are usually held for milliseconds. */
const attempts = 200;
const pauseMs = 50;

/**
 * Runs `work` while it holds an exclusive lock on a file. The lock also excludes other machines that share the
 * directory. A stale lock is never removed, because a process on another machine may still own it.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  await mkdir(dirname(path), { recursive: true });
  await acquire(path, lock);
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function acquire(path: string, lock: string): Promise<void> {
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
    `${path} is locked${owner && ` by ${owner}`}. If that process has ended, delete the lock: rm '${lock}'`,
  );
}

/** Creates the lock file. Returns undefined if it already exists. */
async function create(lock: string): Promise<FileHandle | undefined> {
  try {
    return await open(lock, "wx");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  }
}
