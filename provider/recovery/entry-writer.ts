import { hostname } from "node:os";
import { isRunning } from "../../client/process";
import type { JournalEntry } from "./journal-entry";

/** Whether another process on this machine wrote an entry and is still running. */
export function isAlive({ pid, host }: JournalEntry): boolean {
  return host === hostname() && pid !== process.pid && isRunning(pid);
}

/** Maximum duration of a call, with all retries. */
const callMs = 5 * 60_000;

/**
 * Whether the process that wrote an entry may still be running. On another machine, it may be if the entry is less than
 * five minutes old.
 */
export function mayBeRunning(entry: JournalEntry): boolean {
  const isRecent = Date.now() - Date.parse(entry.at) < callMs;
  return entry.host === hostname() ? isAlive(entry) : isRecent;
}
