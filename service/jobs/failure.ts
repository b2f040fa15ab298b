import { JobError, LostLeaseError, OutdatedError } from "../base/job-error";
import { removeChunks, removeResult } from "../files/results";
import { isOutage } from "../store/postgres-errors";
import { fail, interruptedRuns, outdatedRuns, putBack, runAgain, type Uncounted } from "../store/queue";
import type { Job } from "../store/tables";
import type { JobContext } from "./context";

/** Pause between attempts to record the end of a job. */
const writePauseMs = 5000;

/** Number of interruptions by database outages that do not count as retries. Further interruptions do. */
const mostInterrupted = 10;

/**
 * Records that a job failed, and whether it will run again. Repeats the write until it succeeds, because the disk may
 * be full, for example.
 */
export async function recordFailure(
  job: Job,
  error: unknown,
  context: JobContext,
  { began, onRetry }: { readonly began: number; onRetry(pauseMs: number): void },
): Promise<void> {
  const { store, clock, log, closing, options, metrics } = context;
  const ended = (outcome: string) =>
    metrics.jobs.observe({ type: job.job_type, outcome }, (clock.now() - began) / 1000);
  const message = error instanceof Error ? error.message : String(error);
  const final = error instanceof JobError;
  const uncounted = uncountedReason(job, error);
  const runs = uncounted === "outdated" ? outdatedRuns(job) : interruptedRuns(job);
  const pauseMs = options.retryDelayMs * (uncounted ? 2 ** runs : 4 ** job.retry_count);
  if (error instanceof LostLeaseError) return giveUp(job, error, context);
  for (;;) {
    try {
      if (closing.aborted) {
        await store.exclusively((db) => putBack(db, job));
        await removeFiles(job, context);
        return log.info(about(job), "job requeued: the service closes");
      }
      if (uncounted) {
        const ending = { why: uncounted, reason: message, now: clock.now(), pauseMs };
        await store.exclusively((db) => runAgain(db, job, ending));
        onRetry(pauseMs);
        await removeFiles(job, context);
        ended("run again");
        return log.info({ ...about(job), err: error }, "job will run again");
      }
      const now = clock.now();
      const ending = { message, final, now, pauseMs };
      const again = await store.exclusively((db) => fail(db, job, ending));
      if (again) onRetry(pauseMs);
      await removeFiles(job, context);
      if (!again) await removeEnded(job, context);
      ended(outcomeOf(again));
      return log.warn({ ...about(job), err: error, jobMs: now - began }, lineOf(again));
    } catch (failure) {
      if (failure instanceof LostLeaseError) return giveUp(job, failure, context);
      log.error({ ...about(job), err: failure }, "cannot write the end of a job; trying again soon");
      // The job stays marked as running, so the next start requeues it.
      if (closing.aborted) return;
      await clock.wait(writePauseMs, closing);
    }
  }
}

/** Returns the reason that a failure does not count as a retry: an outdated result, or a database outage. */
function uncountedReason(job: Job, error: unknown): Uncounted | undefined {
  if (error instanceof OutdatedError) return "outdated";
  // The job itself may be what crashes the database, so the number of such interruptions is limited.
  return isOutage(error) && interruptedRuns(job) < mostInterrupted ? "interrupted" : undefined;
}

async function giveUp(job: Job, error: LostLeaseError, context: JobContext): Promise<void> {
  context.log.warn({ ...about(job), err: error }, "job was lost");
  await removeFiles(job, context);
}

/**
 * Removes the result that a failed attempt may have written. Called only after this process has given up the job, because until
 * then an in-doubt commit may turn out to have succeeded.
 */
async function removeFiles(job: Job, context: JobContext): Promise<void> {
  if (job.job_type === "TRAINING" || job.job_type === "DEPLOYMENT") return;
  await removeResult(context, job).catch((error) =>
    context.log.warn(
      { ...about(job), err: error },
      "cannot remove the result of a failed job; it expires in a day",
    ),
  );
}

/** Removes what the attempts of a failed recommendation job have left for the next one. */
export async function removeEnded(job: Job, context: JobContext): Promise<void> {
  if (job.job_type !== "RECOMMENDATION") return;
  await removeChunks(context, job.id).catch((error) =>
    context.log.warn({ ...about(job), err: error }, "cannot remove parts of a result; trying again later"),
  );
}

/** Returns the fields of a log line about a job. */
export function about({ id, project_id, job_type, retry_count, request_id }: Job) {
  return {
    requestId: request_id ?? undefined,
    projectId: project_id,
    jobId: id,
    jobType: job_type,
    retryCount: retry_count,
  };
}

export const outcomeOf = (again: boolean) => (again ? "retried" : "failed");
export const lineOf = (again: boolean) => (again ? "job will be retried" : "job failed");
