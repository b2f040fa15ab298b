import { dayMs } from "./base/clock";
import { removeStrayModels } from "./files/models";
import { removeExpiredResults } from "./files/results";
import type { ServerContext } from "./http/context";
import { removeForgottenUsers } from "./serving/forgetting";
import { cleanUpTombstones, modelsWithForgotten } from "./store/forgotten";
import { dropRefusals } from "./store/history/refusals";
import { createIndexes } from "./store/indexes";
import { dropJobUsers } from "./store/job-users";
import { timeIn } from "./store/time";
import { logBytes, longLogBytes } from "./store/write-ahead-log";
import { emptyLog } from "./threads/write-ahead-log";

const hourMs = 60 * 60 * 1000;

/** How often the size of an embedded database's write-ahead log is checked. */
const logCheckMs = 1000;

/**
 * How long finished jobs are kept. Successful trainings, which contain the quality of models, and the jobs of live
 * deployments are always kept.
 */
const jobsKeptMs = 365 * dayMs;

/** Cleans up every hour until the service closes. */
export async function runHousekeeping(context: ServerContext): Promise<void> {
  const { clock, closing, log } = context;
  void createIndexes(context.store, log, closing);
  for (;;) {
    await clock.wait(hourMs, closing);
    if (closing.aborted) return;
    await cleanUp(context)
      // Empties the write-ahead log again, because a reader may have prevented that when a user was forgotten.
      .then(() => emptyLog(context))
      .catch((error) => log.error({ err: error }, "cleanup failed; trying again later"));
    context.sweep();
    void createIndexes(context.store, log, closing);
  }
}

/** Empties the write-ahead log of an embedded database when it gets long, until the service closes. */
export async function keepLogShort(context: ServerContext): Promise<void> {
  const { store, clock, closing, log } = context;
  for (;;) {
    await clock.wait(logCheckMs, closing);
    if (closing.aborted) return;
    if (logBytes(store.location) < longLogBytes) continue;
    await emptyLog(context).catch((error) => {
      if (!closing.aborted) log.error({ err: error }, "cannot empty the write-ahead log; trying again soon");
    });
  }
}

/** Deletes expired and unreferenced data. Uses the clock of the database if several processes share it. */
export async function cleanUp(context: ServerContext): Promise<void> {
  const { store, clock, idempotency } = context;
  const now = await timeIn(store.db, clock.now());
  await removeStrayModels(context, now);
  await removeExpiredResults(context, now);
  await idempotency.prune(now);
  await removeOldJobs(context, now);
  if ((await modelsWithForgotten(store.db)).length > 0) await removeForgottenUsers(context);
  await store.exclusively(async (db) => {
    await cleanUpTombstones(db);
    await dropRefusals(db, now);
  });
}

async function removeOldJobs({ store }: ServerContext, now: number): Promise<void> {
  await store.exclusively(async (db) => {
    await db
      .deleteFrom("jobs")
      .where("finished_ts", "<=", now - jobsKeptMs)
      .where((of) => of.not(of.and([of("job_type", "=", "TRAINING"), of("status", "=", "SUCCEED")])))
      .where("id", "not in", db.selectFrom("deployments").select("job_id"))
      .execute();
    await dropJobUsers(db);
  });
}
