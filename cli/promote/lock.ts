import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning } from "../../client/process";
import type { OpenStack } from "../stack/open";
import { recordingEngines, wasStartedHere } from "./started-engines";

/** Who holds the lock of a stack, as the engine reports it. */
export interface LockOwner {
  readonly user: string;
  readonly host: string;
  readonly pid: number;
  readonly since: string;
}

/** How to treat a stack that is locked. */
export interface LockPolicy {
  /** Whether the owner may be a run of ours that was interrupted, whose engine is waited for. */
  readonly wait: boolean;
  readonly log: (message: string) => void;
}

/** The owners that the engine names in its refusal; none where its backend does not name them. */
export function lockOwners(message: string): LockOwner[] {
  const owners = message.matchAll(/created by (\S+)@(\S+) \(pid (\d+)\) at (\S+)/g);
  return [...owners].map(([, user = "", host = "", pid, since = ""]) => ({
    user,
    host,
    pid: Number(pid),
    since,
  }));
}

/**
 * Works on a stack that a killed engine may have left locked. A lock is removed only if its owner is proven to have
 * ended: a process that a command of this machine started and that no longer runs. The name of the machine proves nothing.
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
      const refusal = lockError(error);
      if (refusal === undefined) throw error;
      await removeStaleLock(open, refusal, lockPolicy);
    }
  }
}

async function removeStaleLock(open: OpenStack, refusal: string, { wait, log }: LockPolicy): Promise<void> {
  const owners = lockOwners(refusal);
  const foreign = owners.find((owner) => owner.host !== hostname() || !wasStartedHere(open.name, owner));
  if (owners.length === 0 || foreign) {
    const who = foreign
      ? `by ${foreign.user}@${foreign.host}, process ${foreign.pid}, since ${foreign.since}`
      : "";
    throw new Error(
      `Stack ${open.name} is locked ${who || "by another update"}. This command did not start that update and cannot ` +
        `see whether it still runs: wait for its end. If it was killed, run \`pulumi cancel --stack ${open.name}\`. ` +
        "Then run this again.",
    );
  }
  const alive = owners.find(({ pid }) => isRunning(pid));
  if (!alive) {
    log(`The engine that locked stack ${open.name} (process ${owners[0]?.pid}) has ended: unlocking it.`);
    await open.stack.cancel();
    return;
  }
  if (!wait) {
    throw new Error(
      `Stack ${open.name} is being updated by process ${alive.pid} of this machine, since ${alive.since}. ` +
        "Wait for it to end, then run this again.",
    );
  }
  log(`Process ${alive.pid} still works on stack ${open.name}: waiting for it.`);
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
