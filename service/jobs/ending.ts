import type { Db } from "../store/database";
import { outlast } from "../store/outage";
import type { Job } from "../store/tables";
import type { JobContext } from "./context";

/** How long the end of a job waits before it is written again during an outage. */
const pauseMs = 1000;

/**
 * Runs the transaction that ends a job with success, and again after an outage of the database. The commit before the
 * outage may have succeeded without an answer.
 * @returns what the transaction returned, or undefined if an earlier try had succeeded
 */
export function endWithSuccess<T>(
  job: Job,
  { store, clock, closing, log }: JobContext,
  lost: AbortSignal,
  work: (db: Db) => Promise<T>,
): Promise<T | undefined> {
  return outlast(
    (tries) =>
      store.transaction(async (db) =>
        tries > 0 && (await hasSucceeded(db, job)) ? undefined : await work(db),
      ),
    async (error) => {
      if (!store.shared || closing.aborted || lost.aborted) return false;
      const about = { requestId: job.request_id ?? undefined, jobId: job.id };
      log.warn({ ...about, err: error }, "the end of a job cannot be written; trying again soon");
      await clock.wait(pauseMs, AbortSignal.any([closing, lost]));
      return !closing.aborted && !lost.aborted;
    },
  );
}

/** Whether this attempt of a job has ended with success. */
async function hasSucceeded(db: Db, { number, attempt }: Job): Promise<boolean> {
  const jobs = db.selectFrom("jobs").select("number").where("number", "=", number);
  const ended = await jobs.where("attempt", "=", attempt).where("status", "=", "SUCCEED").executeTakeFirst();
  return ended !== undefined;
}
