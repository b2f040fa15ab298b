import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning } from "../../client/process";
import type { OpenStack } from "../stack/open";
import { recordingEngines, wasStartedHere } from "./started-engines";

/** Options for handling a locked stack. */
export interface LockPolicy {
  /** Whether to wait while an engine that this machine started is still running, as after an interrupted run. */
  readonly wait: boolean;
  readonly log: (message: string) => void;
}

/** Parses the lock owners in an engine error. Returns an empty list if the backend does not report them. */
export function lockOwners(message: string) {
  const owners = message.matchAll(/created by (\S+)@(\S+) \(pid (\d+)\) at (\S+)/g);
  return [...owners].map(([, user = "", host = "", pid, since = ""]) => ({
    user,
    host,
    pid: Number(pid),
    since,
  }));
}

/**
 * Runs `work` on a stack that a killed engine may have left locked. Removes a lock only if this machine has a record of
 * starting its owner, and that process has ended. The host name is no proof: several machines may have the same name.
 */
export async function withStaleLockRemoved<T>(
  open: OpenStack,
  lockPolicy: LockPolicy,
  work: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await recordingEngines(open.name, work);
    } catch (error) {
      const message = lockError(error);
      if (message === undefined) throw error;
      await removeStaleLock(open, message, lockPolicy);
    }
  }
}

async function removeStaleLock(open: OpenStack, message: string, { wait, log }: LockPolicy): Promise<void> {
  const owners = lockOwners(message);
  const foreign = owners.find((owner) => owner.host !== hostname() || !wasStartedHere(open.name, owner));
  if (owners.length === 0 || foreign) {
    const who = foreign
      ? `by ${foreign.user}@${foreign.host}, process ${foreign.pid}, since ${foreign.since}`
      : "";
    throw new Error(
      `Stack ${open.name} is locked ${who || "by another update"}. Wait for that update to end. ` +
        `If it was killed, run \`pulumi cancel --stack ${open.name}\`. Then run this command again.`,
    );
  }
  const alive = owners.find(({ pid }) => isRunning(pid));
  if (!alive) {
    log(
      `The engine that locked stack ${open.name} (process ${owners[0]?.pid}) has ended. Removing its lock.`,
    );
    await open.stack.cancel();
    return;
  }
  if (!wait) {
    throw new Error(
      `Process ${alive.pid} has been updating stack ${open.name} since ${alive.since}. ` +
        "Wait for it to end, then run this command again.",
    );
  }
  log(`Waiting for process ${alive.pid}, which is updating stack ${open.name}.`);
  while (isRunning(alive.pid)) await sleep(200);
}

function lockError(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const locked =
      cause.name === "ConcurrentUpdateError" || /currently locked by|\[409\] Conflict/.test(cause.message);
    if (locked) return cause.message;
  }
  return undefined;
}
