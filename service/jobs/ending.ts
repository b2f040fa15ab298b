import { tracedPart } from "../../telemetry/tracing";
import type { Db } from "../store/database";
import { retryOutages } from "../store/outage";
import type { Job } from "../store/tables";
import type { JobContext } from "./context";

/** Pause between attempts to record the end of a job during an outage. */
const pauseMs = 1000;

/**
 * Runs the transaction that ends a job with success, and retries it after an outage of the database or while the disk
 * is full. If the connection broke during the commit, the retry first checks whether that commit succeeded.
 * @returns the result of the transaction, or undefined if an earlier commit had succeeded
 */
export function endWithSuccess<T>(
  job: Job,
  { store, clock, closing, log }: JobContext,
  lost: AbortSignal,
  work: (db: Db) => Promise<T>,
): Promise<T | undefined> {
  const end = (tries: number) =>
    store.exclusively(async (db) =>
      tries > 0 && (await hasSucceeded(db, job)) ? undefined : await work(db),
    );
  const mayRetry = async (error: unknown) => {
    if (closing.aborted || lost.aborted) return false;
    const about = { requestId: job.request_id ?? undefined, jobId: job.id };
    log.warn({ ...about, err: error }, "cannot write the end of a job; trying again soon");
    await clock.wait(pauseMs, AbortSignal.any([closing, lost]));
    return !closing.aborted && !lost.aborted;
  };
  return tracedPart({ name: "phase commit" }, () => retryOutages(end, mayRetry));
}

async function hasSucceeded(db: Db, { number, attempt }: Job): Promise<boolean> {
  const jobs = db.selectFrom("jobs").select("number").where("number", "=", number);
  const ended = await jobs.where("attempt", "=", attempt).where("status", "=", "SUCCEED").executeTakeFirst();
  return ended !== undefined;
}
