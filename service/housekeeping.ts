import { dayMs } from "./base/clock";
import { removeStrayModels } from "./files/models";
import { removeExpiredResults } from "./files/results";
import type { ServerContext } from "./http/context";
import { removeForgottenUsers } from "./serving/forgetting";
import { modelsWithForgotten, tidyTombstones } from "./store/forgotten";
import { dropRefusals } from "./store/history/refusals";
import { noteSizes } from "./store/history/sizes";
import { makeIndexes } from "./store/indexes";
import { timeIn } from "./store/time";
import { logBytes, longLogBytes } from "./store/write-ahead-log";
import { emptyLog } from "./threads/short-log";

const everyMs = 60 * 60 * 1000;

/** How often the length of an embedded database's log is checked. */
const logEveryMs = 1000;

/** How long ended jobs can be read; successful trainings always can, for they say how good their models are. */
const jobsKeptMs = 365 * dayMs;

/** Tidies up from time to time until the service closes. */
export async function keepTidy(context: ServerContext): Promise<void> {
  const { clock, closing, log } = context;
  void makeIndexes(context.store, log, closing);
  for (;;) {
    await clock.wait(everyMs, closing);
    if (closing.aborted) return;
    await tidy(context)
      // A reader may have kept the log of the database from being truncated when a user was forgotten.
      .then(() => emptyLog(context))
      .catch((error) => log.error({ err: error }, "tidying up failed; trying again later"));
    context.sweep();
    void makeIndexes(context.store, log, closing);
  }
}

/** Empties the log of an embedded database whenever it is long, until the service closes. */
export async function keepLogShort(context: ServerContext): Promise<void> {
  const { store, clock, closing, log } = context;
  for (;;) {
    await clock.wait(logEveryMs, closing);
    if (closing.aborted) return;
    if (logBytes(store.place) < longLogBytes) continue;
    await emptyLog(context).catch((error) => {
      if (!closing.aborted)
        log.error({ err: error }, "the log of the database cannot be emptied; trying again soon");
    });
  }
}

/** Removes what can no longer be requested, and notes how large the datasets are; by the database's clock if it is shared. */
export async function tidy(context: ServerContext): Promise<void> {
  const { store, clock, idempotency } = context;
  const now = await timeIn(store.db, clock.now());
  await removeStrayModels(context, now);
  await removeExpiredResults(context, now);
  await idempotency.prune(now);
  await removeOldJobs(context, now);
  if ((await modelsWithForgotten(store.db)).length > 0) await removeForgottenUsers(context);
  await store.transaction(async (db) => {
    await tidyTombstones(db);
    await dropRefusals(db, now);
    await noteSizes(db, now);
  });
}

async function removeOldJobs({ store }: ServerContext, now: number): Promise<void> {
  await store.transaction((db) =>
    db
      .deleteFrom("jobs")
      .where("finished_ts", "<=", now - jobsKeptMs)
      .where((of) => of.not(of.and([of("job_type", "=", "TRAINING"), of("status", "=", "SUCCEED")])))
      .where("id", "not in", db.selectFrom("deployments").select("job_id"))
      .execute(),
  );
}
