import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readIfPossible, replaceFile } from "../../client/state-directory";
import { exclusively, stateFileOf } from "./exclusive";

/** Number of attempts to get a lock: up to 10 s in total. Locks are usually held for milliseconds. */
const attempts = 200;
const pauseMs = 50;

/**
 * Runs `work` while it holds an exclusive lock on a file. The lock also excludes other machines that share the
 * directory. A killed process leaves the lock behind. It is removed only if this machine has a record of creating it,
 * because otherwise a process on another machine may still own it.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  mkdirSync(dirname(path), { recursive: true });
  const noWarning = () => undefined;
  return exclusively(lock, noWarning, async () => {
    await acquire(path, lock);
    try {
      return await work();
    } finally {
      await rm(lock, { force: true });
    }
  });
}

async function acquire(path: string, lock: string): Promise<void> {
  const record = stateFileOf(lock, "owner");
  const text = `process ${process.pid} on ${hostname()}, ${new Date().toISOString()}, ${randomUUID()}\n`;
  const left = readIfPossible(record);
  // Only one process per machine gets here at a time, so the process of this machine that created the lock has ended.
  if (left && readIfPossible(lock) === left) await rm(lock, { force: true });
  // The record is written first, so the lock never exists without it.
  replaceFile(record, text);
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (create(lock, text)) return;
    await sleep(pauseMs);
  }
  const owner = (await readFile(lock, "utf8").catch(() => "")).trim();
  throw new Error(
    `${path} is locked${owner && ` by ${owner}`}. If that process has ended, delete the lock: rm '${lock}'`,
  );
}

/** Creates the lock file. Returns false if it already exists. */
function create(lock: string, text: string): boolean {
  try {
    writeFileSync(lock, text, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
