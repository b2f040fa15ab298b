import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createDirectory, digest, stateDirectory } from "../../client/state-directory";

const pauseMs = 50;

class BusyError extends Error {}

/** Returns the path of a file in the user's state that belongs to a path anywhere, such as a release history. */
export function stateFileOf(path: string, extension: string): string {
  const directory = stateDirectory("changes");
  createDirectory(directory);
  return join(directory, `${digest(resolve(path))}.${extension}`);
}

/**
 * Runs `work` while no other command on this machine does the same for a path. A second command waits, and `onWait` is
 * called once. The operating system releases the lock when a process dies, so a killed command never blocks the next one.
 */
export async function exclusively<T>(path: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  const { lockFile } = await import("../../service/embedded.js");
  const file = stateFileOf(path, "lock");
  const busy = (cause: unknown) =>
    (cause as { code?: string }).code === "SQLITE_BUSY" ? new BusyError() : (cause as Error);
  for (let isFirst = true; ; isFirst = false) {
    let unlock: () => void;
    try {
      unlock = lockFile(file, busy, 0);
    } catch (error) {
      if (!(error instanceof BusyError)) throw error;
      if (isFirst) onWait();
      await sleep(pauseMs);
      continue;
    }
    try {
      return await work();
    } finally {
      unlock();
    }
  }
}
