import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import Database from "libsql";
import { type DataDirectory, writeAtomically } from "./data-directory";

/** What a service records about itself while it runs. */
export interface Running {
  readonly pid: number;
  /** The machine or container that the process id is of; older versions did not write it. */
  readonly host?: string;
  /** Its address on this machine; missing while it starts. */
  readonly url?: string;
  readonly instanceId?: string;
}

/** Says that another process serves the folder. */
export class DataDirectoryBusyError extends Error {
  override readonly name = "DataDirectoryBusyError";
}

/** Somebody may be looking whether the folder is locked, which takes a moment. */
const lockPatienceMs = 1000;

/** Keeps the folder for this process; the operating system frees it when the process dies, however that happens. */
export function lockDataDirectory(folder: DataDirectory): () => void {
  for (;;) {
    const before = lockFileId(folder);
    const unlock = lockOnce(folder);
    // Whoever waited while the folder was reset has locked a deleted file, which keeps nobody out.
    if (before !== undefined && before === lockFileId(folder)) return unlock;
    unlock();
  }
}

function lockFileId({ lockFile }: DataDirectory): bigint | undefined {
  return statSync(lockFile, { bigint: true, throwIfNoEntry: false })?.ino;
}

function lockOnce(folder: DataDirectory): () => void {
  return lockFile(folder.lockFile, (cause) => {
    const { pid, url } = readRunning(folder) ?? {};
    const process = pid === undefined ? "" : ` by process ${pid}${url === undefined ? "" : ` at ${url}`}`;
    return new DataDirectoryBusyError(
      `The folder ${folder.path} is already served${process}; ` +
        `use that one, end it with \`recommender stop --data ${folder.path}\`, or give another folder with --data.`,
      { cause },
    );
  });
}

/** Keeps a file, made where there is none, for this process until that is called off or the process dies. */
export function lockFile(
  file: string,
  busy: (cause: unknown) => Error,
  patienceMs = lockPatienceMs,
): () => void {
  const lock = new Database(file, { timeout: patienceMs });
  try {
    lock.exec("PRAGMA locking_mode=EXCLUSIVE");
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    throw busy(error);
  }
  let held = true;
  return () => {
    if (held) lock.close();
    held = false;
  };
}

/** Whether a process serves the folder, be it stuck or just starting. */
export function isLocked(folder: DataDirectory): boolean {
  if (!existsSync(folder.lockFile)) return false;
  const lock = new Database(folder.lockFile);
  try {
    // Reading needs a lock that the other's excludes.
    lock.exec("SELECT count(*) FROM sqlite_master");
    return false;
  } catch (error) {
    if ((error as { code?: string }).code === "SQLITE_BUSY") return true;
    throw error;
  } finally {
    lock.close();
  }
}

/** Who serves the folder, as written there; counts only while the folder is locked. */
export function readRunning(folder: DataDirectory): Running | undefined {
  try {
    const running = JSON.parse(readFileSync(folder.runningFile, "utf8")) as Running;
    // A signal to a process id below 1 would go to a whole group of processes.
    return Number.isSafeInteger(running.pid) && running.pid > 0 ? running : undefined;
  } catch {
    return undefined;
  }
}

/** A process has the lock before its name is written; the name of a former one is gone after so long. */
export const runningFileDelayMs = 1000;

/** Whether a service of 0.1.0 is named, which cannot prove that it serves the folder: it recorded no instance. */
export function isFirstVersionService({ url, instanceId }: Running): boolean {
  return url !== undefined && instanceId === undefined;
}

/** Records who serves the folder. */
export function writeRunning(folder: DataDirectory, running: Running): void {
  writeAtomically(folder.runningFile, JSON.stringify({ host: hostname(), ...running }));
}

/** Forgets who serves the folder. */
export function removeRunning(folder: DataDirectory): void {
  rmSync(folder.runningFile, { force: true });
}
