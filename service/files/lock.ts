import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import Database from "libsql";
import { type DataDirectory, writeAtomically } from "./data-directory";

/** Description of the running service in a data directory. */
export interface Running {
  readonly pid: number;
  /** The host or container of the process. Missing in files of older versions. */
  readonly host?: string;
  /** Local address of the service. Missing while it starts. */
  readonly url?: string;
  readonly instanceId?: string;
}

/** Another process uses the data directory, the database or the directory of a backup. */
export class DataDirectoryBusyError extends Error {
  override readonly name = "DataDirectoryBusyError";
}

/** How long to wait for the lock. The wait is needed because `isLocked` takes the lock for a moment. */
const lockPatienceMs = 1000;

/** Locks the data directory for this process. The operating system releases the lock when the process dies. */
export function lockDataDirectory(dataDirectory: DataDirectory): () => void {
  for (;;) {
    const before = lockFileId(dataDirectory);
    const unlock = lockOnce(dataDirectory);
    // If the directory was reset meanwhile, the locked file was deleted, and the lock keeps nobody out.
    if (before !== undefined && before === lockFileId(dataDirectory)) return unlock;
    unlock();
  }
}

function lockFileId({ lockFile }: DataDirectory): bigint | undefined {
  return statSync(lockFile, { bigint: true, throwIfNoEntry: false })?.ino;
}

function lockOnce(dataDirectory: DataDirectory): () => void {
  return lockFile(dataDirectory.lockFile, (cause) => {
    const { pid, url } = readRunning(dataDirectory) ?? {};
    const process = pid === undefined ? "" : ` by process ${pid}${url === undefined ? "" : ` at ${url}`}`;
    return new DataDirectoryBusyError(
      `The data directory ${dataDirectory.path} is already in use${process}. Use that service, ` +
        `stop it with \`recommender stop --data ${dataDirectory.path}\`, or choose another directory with --data.`,
      { cause },
    );
  });
}

/** Locks a file, which is created if needed, until the returned function is called or the process dies. */
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
  let isLocked = true;
  return () => {
    if (isLocked) lock.close();
    isLocked = false;
  };
}

/** Whether a process serves the data directory, even if it hangs or is starting. */
export function isLocked(dataDirectory: DataDirectory): boolean {
  if (!existsSync(dataDirectory.lockFile)) return false;
  const lock = new Database(dataDirectory.lockFile);
  try {
    // Reading needs a shared lock, which the exclusive lock of a service excludes.
    lock.exec("SELECT count(*) FROM sqlite_master");
    return false;
  } catch (error) {
    if ((error as { code?: string }).code === "SQLITE_BUSY") return true;
    throw error;
  } finally {
    lock.close();
  }
}

/** Reads the description of the running service. Only valid while the data directory is locked. */
export function readRunning(dataDirectory: DataDirectory): Running | undefined {
  try {
    const running = JSON.parse(readFileSync(dataDirectory.runningFile, "utf8")) as Running;
    // A signal to a process id below 1 would reach a whole process group.
    return Number.isSafeInteger(running.pid) && running.pid > 0 ? running : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A service writes `running.json` within this time after it took the lock. Until then, the file may describe an
 * earlier service.
 */
export const runningFileDelayMs = 1000;

/** Whether the service is version 0.1.0, which wrote no instance id and cannot prove that it serves the directory. */
export function isFirstVersionService({ url, instanceId }: Running): boolean {
  return url !== undefined && instanceId === undefined;
}

/** Writes the description of the running service. */
export function writeRunning(dataDirectory: DataDirectory, running: Running): void {
  writeAtomically(dataDirectory.runningFile, JSON.stringify({ host: hostname(), ...running }));
}

/** Deletes the description of the running service. */
export function removeRunning(dataDirectory: DataDirectory): void {
  rmSync(dataDirectory.runningFile, { force: true });
}
