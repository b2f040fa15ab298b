import { dayMs } from "./base/clock";
import { removeStrayModels } from "./files/models";
import { removeExpiredResults } from "./files/results";
import type { ServerContext } from "./http/context";
import { dropNeedless } from "./store/forgotten";
import { dropRefusals } from "./store/history/refusals";
import { noteSizes } from "./store/history/sizes";

const everyMs = 60 * 60 * 1000;

/** How long ended jobs can be read; successful trainings always can, for they say how good their models are. */
const jobsKeptMs = 365 * dayMs;

/** Tidies up from time to time until the service closes. */
export async function keepTidy(context: ServerContext): Promise<void> {
  const { clock, closing, log } = context;
  for (;;) {
    await clock.wait(everyMs, closing);
    if (closing.aborted) return;
    await tidy(context).catch((error) => log.error({ err: error }, "tidying up failed; trying again later"));
    context.sweep();
  }
}

/** Removes what can no longer be requested, and notes how large the datasets are. */
export async function tidy(context: ServerContext): Promise<void> {
  await removeStrayModels(context);
  await removeExpiredResults(context);
  await context.idempotency.prune();
  await removeOldJobs(context);
  await context.store.transaction(async (db) => {
    await dropNeedless(db);
    await dropRefusals(db, context.clock.now());
    await noteSizes(db, context.clock.now());
  });
}

async function removeOldJobs({ store, clock }: ServerContext): Promise<void> {
  await store.transaction((db) =>
    db
      .deleteFrom("jobs")
      .where("finished_ts", "<=", clock.now() - jobsKeptMs)
      .where((of) => of.not(of.and([of("job_type", "=", "TRAINING"), of("status", "=", "SUCCEED")])))
      .where("id", "not in", db.selectFrom("deployments").select("job_id"))
      .execute(),
  );
}
