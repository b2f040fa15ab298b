import { setTimeout as sleep } from "node:timers/promises";
import type { ChaosDatabase } from "./chaos-database";
import type { Member } from "./chaos-member";

/** Connections are checked for read-only servers every two seconds. A busy machine takes longer. */
const graceMs = 3500;
/** Processes may notice the end of an outage before the test does. */
const aheadMs = 2000;

/** Polls the readiness of processes and records it. */
export class ReadinessWatch {
  private readonly claims: { role: string; began: number; ended: number; store: string }[] = [];
  private stopped = false;
  private watching: Promise<unknown> = Promise.resolve();

  start(members: readonly Member[]): void {
    this.watching = Promise.all(members.map((member) => this.watch(member)));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.watching;
  }

  private async watch(member: Member): Promise<void> {
    while (!this.stopped) {
      const began = performance.now();
      const { isReady, store } = (await member.readiness()) ?? { isReady: false, store: "" };
      if (isReady) this.claims.push({ role: member.role, began, ended: performance.now(), store });
      await sleep(100);
    }
  }

  /** Returns the times at which a process reported ready during an outage of the database. */
  untrue({ outages }: ChaosDatabase): string[] {
    return outages.flatMap(({ fault, began, ended }) =>
      this.claims
        .filter((claim) => claim.began >= began + graceMs && claim.ended <= ended - aheadMs)
        .map(
          ({ role, ...claim }) => `${fault}: ${role} was ready after ${Math.round(claim.began - began)} ms`,
        ),
    );
  }

  /** Returns the times at which the disk was full, but no process reported it. */
  unnoticed({ fullTimes }: ChaosDatabase): string[] {
    return fullTimes
      .filter(
        ({ began, ended }) =>
          !this.claims.some(
            (claim) => claim.store === "full" && claim.began >= began && claim.ended <= ended,
          ),
      )
      .map(({ began, ended }) => `the disk was full for ${Math.round(ended - began)} ms, and nobody said so`);
  }
}

/** A job in the database at the end of the test. */
export interface JobRow {
  readonly id: string;
  readonly project_id: string;
  readonly job_type: string;
  readonly name: string;
  readonly status: string;
  readonly data: string;
  readonly result: string;
  readonly attempt: number;
}

interface Retry {
  readonly reason: string;
  readonly outdated?: true;
  readonly interrupted?: true;
}

/** Returns the reason for each further run of a job. */
export function retriesOf({ data }: JobRow): readonly Retry[] {
  return (JSON.parse(data) as { retries?: readonly Retry[] }).retries ?? [];
}

/** Whether another process took over a job because of missing heartbeats. */
export const isTakenAway = ({ reason }: Retry): boolean => /no heartbeat/.test(reason);

/**
 * Returns the jobs that were taken from a healthy worker, whose work was discarded. A killed worker logs nothing, so a
 * worker that reports a lost job was either healthy or had been paused for longer than a lease.
 */
export function discarded(members: readonly Member[], jobs: readonly JobRow[], leaseMs: number): string[] {
  const takenAway = new Set(jobs.filter((job) => retriesOf(job).some(isTakenAway)).map(({ id }) => id));
  return members.flatMap(({ said, stops }) =>
    linesOf(said)
      .filter(({ msg, jobId }) => msg === "job was lost" && takenAway.has(String(jobId)))
      .filter(({ time }) => {
        const at = Date.parse(time);
        // A worker notices the loss when it resumes, or at its next heartbeat.
        return !stops.some(({ began, ended }) => at >= began && at <= ended + 2 * leaseMs);
      })
      .map(({ time, jobId }) => `${jobId} was lost at ${time}`),
  );
}

/** Returns the logged errors of calls that failed for other reasons than an outage. */
export function defectsIn(said: string): string[] {
  const lines = linesOf(said);
  const failed = new Set(lines.filter(({ status }) => status === 500).map(({ requestId }) => requestId));
  return lines.filter((line) => line.err && failed.has(line.requestId)).map((line) => JSON.stringify(line));
}

interface LogLine {
  readonly time: string;
  readonly msg: string;
  readonly jobId?: string;
  readonly requestId?: string;
  readonly status?: number;
  readonly err?: object;
}

function linesOf(said: string): LogLine[] {
  return said
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"))
    .map((line) => JSON.parse(line));
}
