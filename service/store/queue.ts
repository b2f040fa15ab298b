import { type RawBuilder, sql, type UpdateObject } from "kysely";
import { limits } from "../../contract";
import { newId } from "../base/id";
import { LostLeaseError } from "../base/job-error";
import { type Db, isPostgres } from "./database";
import { nextNumber } from "./find";
import { signal } from "./signals";
import type { Job, JobType, Tables } from "./tables";
import { timeSql } from "./time";

/** Appends a job to the queue. */
export async function enqueue(
  db: Db,
  job: { projectId: string; jobType: JobType; name: string; data: object; requestId: string; now: number },
): Promise<string> {
  const id = newId("job");
  await db
    .insertInto("jobs")
    .values({
      number: await nextNumber(db, "jobs"),
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

/** Takes the oldest pending job of the given types that is due, and gives the worker a lease on it. */
export function take(
  db: Db,
  types: readonly JobType[],
  { worker, now, leaseMs }: { worker: string; now: number; leaseMs: number },
): Promise<Job | undefined> {
  const next = db
    .selectFrom("jobs")
    .select("number")
    .where("status", "=", "PENDING")
    .where("finished_ts", "is", null)
    .where("job_type", "in", types)
    .where("due_ts", "<=", timeSql(db, now))
    .orderBy("number")
    .limit(1)
    // A concurrent process takes the next job instead of waiting for this one.
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

/**
 * Renews the leases of the jobs that a process runs. If the response to `take` was lost, the process does not know that
 * it has the job. Then the lease expires and another process takes the job.
 * @returns the jobs whose lease the process still has
 */
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
  // A job that this process lost and took again has a higher attempt.
  const isRenewed = (job: Job) =>
    rows.some((row) => row.number === job.number && row.attempt === job.attempt);
  return new Set(jobs.filter(isRenewed));
}

/** Ends a job with success. Throws `LostLeaseError` if another attempt owns it. */
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

/** Stores the progress of a running job. Does nothing if another attempt owns it. */
export async function note(db: Db, job: Job, data: object): Promise<void> {
  await db
    .updateTable("jobs")
    .set({ data: JSON.stringify(data) })
    .where("number", "=", job.number)
    .where("status", "=", "RUNNING")
    .where("attempt", "=", job.attempt)
    .execute();
}

/**
 * Requeues a failed job, or ends it if it has no retries left or the failure is final. Returns whether it is retried.
 */
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

/** A failed run after which the job was tried again. */
export interface Retry {
  readonly ts: number;
  readonly reason: string;
  /** Set if the result was outdated. Such a run does not count as a try. */
  readonly outdated?: true;
  /** Set if the database had an outage. Such a run does not count as a try. */
  readonly interrupted?: true;
}

/** Reason why a failed run does not count as a try. */
export type Uncounted = "outdated" | "interrupted";

function withRetry(job: Job, retry: Retry): string {
  return JSON.stringify({ ...JSON.parse(job.data), retries: [...retriesOf(job), retry] });
}

function retriesOf({ data }: Job): readonly Retry[] {
  return (JSON.parse(data) as { retries?: readonly Retry[] }).retries ?? [];
}

/** Counts the runs of a job whose results were outdated. */
export function outdatedRuns(job: Job): number {
  return retriesOf(job).filter(({ outdated }) => outdated).length;
}

/** Counts the runs of a job that an outage of the database ended. */
export function interruptedRuns(job: Job): number {
  return retriesOf(job).filter(({ interrupted }) => interrupted).length;
}

/** Requeues a job without counting the run as a try. */
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

/** Requeues a job that is interrupted because the service closes. */
export async function putBack(db: Db, job: Job): Promise<void> {
  await change(db, job, { status: "PENDING" });
  await signal(db, "jobs");
}

/**
 * Fails the unfinished jobs of one type in a project, and returns their number. Processes that run them lose their
 * leases.
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

/** Updates a running job. The attempt is a fencing token: it rejects a process that has lost its lease. */
async function change(db: Db, job: Job, to: UpdateObject<Tables, "jobs">): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable("jobs")
    .set(to)
    .where("number", "=", job.number)
    .where("status", "=", "RUNNING")
    .where("attempt", "=", job.attempt)
    .executeTakeFirstOrThrow();
  if (Number(numUpdatedRows) === 0)
    throw new LostLeaseError("another process has taken over the job, or the job has ended");
}

/**
 * Requeues the jobs of dead processes, which counts as a try. A job without tries left fails. An embedded service calls
 * this at its start, when no job can be running. In a shared database, a job is requeued if its lease expired before
 * `now`, by the database's clock.
 */
export async function recover(db: Db, now: number) {
  const left = await db
    .selectFrom("jobs")
    .selectAll()
    .where("status", "=", "RUNNING")
    .where("finished_ts", "is", null)
    .$if(isPostgres(db), (jobs) => jobs.where("lease_ts", "<", now).forUpdate().skipLocked())
    .execute();
  const recovered: { job: Job; again: boolean; reason: string }[] = [];
  for (const job of left) {
    const cause = "was killed, or sent no heartbeat for too long";
    const reason = `The process that ran it ${cause}.`;
    // The message describes only the last try, because earlier tries may have failed for other reasons.
    const message = `The process that ran the job ${cause}, in the last of its ${job.retry_count + 1} tries. Submit it again.`;
    const again = await fail(db, job, { message, reason, final: false, now, pauseMs: 0 });
    recovered.push({ job, again, reason: again ? reason : message });
  }
  return recovered;
}

function later(db: Db, now: number, ms: number): RawBuilder<number> {
  return sql`${timeSql(db, now)} + ${sql.lit(ms)}`;
}
