import { type RawBuilder, sql, type UpdateObject } from "kysely";
import { limits } from "../../contract";
import { newId } from "../base/id";
import { LostLeaseError } from "../base/job-error";
import { type Db, isPostgres } from "./database";
import { signal } from "./signals";
import type { Job, JobType, Tables } from "./tables";
import { timeSql } from "./time";

/** Puts a job at the end of the queue. */
export async function enqueue(
  db: Db,
  job: { projectId: string; jobType: JobType; name: string; data: object; requestId: string; now: number },
): Promise<string> {
  const { last } = await db
    .selectFrom("jobs")
    .select((of) => of.fn.max<number | null>("number").as("last"))
    .executeTakeFirstOrThrow();
  const id = newId("job");
  await db
    .insertInto("jobs")
    .values({
      number: (last ?? 0) + 1,
      id,
      project_id: job.projectId,
      job_type: job.jobType,
      name: job.name,
      data: JSON.stringify(job.data),
      result: null,
      status: "PENDING",
      retry_count: 0,
      created_ts: job.now,
      finished_ts: null,
      due_ts: 0,
      worker: null,
      request_id: job.requestId,
    })
    .execute();
  await signal(db, "jobs");
  return id;
}

/** Takes the oldest job of one of the kinds whose turn it is. */
export function take(
  db: Db,
  kinds: readonly JobType[],
  { worker, now, leaseMs }: { worker: string; now: number; leaseMs: number },
): Promise<Job | undefined> {
  const next = db
    .selectFrom("jobs")
    .select("number")
    .where("status", "=", "PENDING")
    .where("finished_ts", "is", null)
    .where("job_type", "in", kinds)
    .where("due_ts", "<=", timeSql(db, now))
    .orderBy("number")
    .limit(1)
    // Whoever comes second takes the next one.
    .$if(isPostgres(db), (jobs) => jobs.forUpdate().skipLocked());
  return db
    .updateTable("jobs")
    .set((of) => ({
      status: "RUNNING",
      worker,
      attempt: of("attempt", "+", 1),
      lease_ts: later(db, now, leaseMs),
    }))
    .where("number", "=", next)
    .returningAll()
    .executeTakeFirst();
}

/** Shows that a process still runs these jobs; one that it took without ever hearing of it is left to others. */
export async function renew(
  db: Db,
  jobs: readonly Job[],
  { worker, now, leaseMs }: { worker: string; now: number; leaseMs: number },
): Promise<Set<Job>> {
  if (jobs.length === 0) return new Set();
  const rows = await db
    .updateTable("jobs")
    .set({ lease_ts: later(db, now, leaseMs) })
    .where("status", "=", "RUNNING")
    .where("worker", "=", worker)
    .where(
      "number",
      "in",
      jobs.map((job) => job.number),
    )
    .returning(["number", "attempt"])
    .execute();
  // One that was lost and taken again by the same process is another attempt.
  const isKept = (job: Job) => rows.some((row) => row.number === job.number && row.attempt === job.attempt);
  return new Set(jobs.filter(isKept));
}

/** Ends a job that has succeeded. */
export async function succeed(
  db: Db,
  job: Job,
  end: { data?: object; result: object; now: number },
): Promise<void> {
  const data = end.data ? JSON.stringify({ ...JSON.parse(job.data), ...end.data }) : job.data;
  await change(db, job, {
    status: "SUCCEED",
    data,
    result: JSON.stringify(end.result),
    finished_ts: end.now,
  });
}

/** Notes what is known of a job while it runs; nothing where it has come into other hands. */
export async function note(db: Db, job: Job, data: object): Promise<void> {
  await db
    .updateTable("jobs")
    .set({ data: JSON.stringify(data) })
    .where("number", "=", job.number)
    .where("status", "=", "RUNNING")
    .where("attempt", "=", job.attempt)
    .execute();
}

/** Puts a job back for another try, or ends it when its tries are used up or another would be of no use. */
export async function fail(
  db: Db,
  job: Job,
  end: { message: string; reason?: string; final: boolean; now: number; pauseMs: number },
): Promise<boolean> {
  const again = !end.final && job.retry_count < limits.jobRetries;
  await change(
    db,
    job,
    again
      ? {
          status: "PENDING",
          retry_count: job.retry_count + 1,
          due_ts: later(db, end.now, end.pauseMs),
          data: withRetry(job, { ts: end.now, reason: end.reason ?? end.message }),
        }
      : { status: "FAILED", result: JSON.stringify({ message: end.message }), finished_ts: end.now },
  );
  return again;
}

/** Why a job was tried again. */
export interface Retry {
  readonly ts: number;
  readonly reason: string;
  /** What it had found out was no longer so: no try is counted. */
  readonly outdated?: true;
  /** The database had an outage: no try is counted. */
  readonly interrupted?: true;
}

/** Why a run that failed is not counted as a retry. */
export type Uncounted = "outdated" | "interrupted";

function withRetry(job: Job, retry: Retry): string {
  return JSON.stringify({ ...JSON.parse(job.data), retries: [...retriesOf(job), retry] });
}

function retriesOf({ data }: Job): readonly Retry[] {
  return (JSON.parse(data) as { retries?: readonly Retry[] }).retries ?? [];
}

/** How many runs of a job were for nothing, because what they had found out was no longer so. */
export function outdatedRuns(job: Job): number {
  return retriesOf(job).filter(({ outdated }) => outdated).length;
}

/** How many runs of a job an outage of the database has ended. */
export function interruptedRuns(job: Job): number {
  return retriesOf(job).filter(({ interrupted }) => interrupted).length;
}

/** Puts a job back for a reason that uses up no try. */
export async function runAgain(
  db: Db,
  job: Job,
  end: { why: Uncounted; reason: string; now: number; pauseMs: number },
): Promise<void> {
  await change(db, job, {
    status: "PENDING",
    due_ts: later(db, end.now, end.pauseMs),
    data: withRetry(job, { ts: end.now, reason: end.reason, [end.why]: true }),
  });
}

/** Puts a job back that the service itself interrupts, which is no failure of the job. */
export async function putBack(db: Db, job: Job): Promise<void> {
  await change(db, job, { status: "PENDING" });
  await signal(db, "jobs");
}

/**
 * Fails the jobs of a project that wait or run; a process that runs one of them can no longer end it with success.
 * @returns how many there were
 */
export async function endUnfinished(
  db: Db,
  { projectId, jobType, message, now }: { projectId: string; jobType: JobType; message: string; now: number },
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable("jobs")
    .set({ status: "FAILED", result: JSON.stringify({ message }), finished_ts: now })
    .where("project_id", "=", projectId)
    .where("job_type", "=", jobType)
    .where("finished_ts", "is", null)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Only who has the job may say what becomes of it. */
async function change(db: Db, job: Job, to: UpdateObject<Tables, "jobs">): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable("jobs")
    .set(to)
    .where("number", "=", job.number)
    .where("status", "=", "RUNNING")
    .where("attempt", "=", job.attempt)
    .executeTakeFirstOrThrow();
  if (Number(numUpdatedRows) === 0) throw new LostLeaseError("another process has the job, or it was ended");
}

/** A job whose process is gone, and whether it is tried again or has failed. */
interface LeftJob {
  readonly job: Job;
  readonly again: boolean;
  readonly reason: string;
}

/**
 * Puts the jobs of processes that are gone back into the queue; each time counts as a retry, and a job whose tries are
 * used up fails. A single process knows at its start that all others are gone. If several share a database, those are
 * gone whose lease ran out before `now`, a time of the database's clock.
 */
export async function recover(db: Db, now: number): Promise<readonly LeftJob[]> {
  const left = await db
    .selectFrom("jobs")
    .selectAll()
    .where("status", "=", "RUNNING")
    .where("finished_ts", "is", null)
    .$if(isPostgres(db), (jobs) => jobs.where("lease_ts", "<", now).forUpdate().skipLocked())
    .execute();
  const told: LeftJob[] = [];
  for (const job of left) {
    const what = "was killed, or sent no heartbeat for too long";
    const reason = `The process that ran it ${what}.`;
    // Tries before may have ended otherwise.
    const message = `The process that ran the job ${what}, in the last of its ${job.retry_count + 1} tries; submit it again.`;
    const again = await fail(db, job, { message, reason, final: false, now, pauseMs: 0 });
    told.push({ job, again, reason: again ? reason : message });
  }
  return told;
}

function later(db: Db, now: number, ms: number): RawBuilder<number> {
  return sql`${timeSql(db, now)} + ${sql.lit(ms)}`;
}
