import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { lifetimeSec } from "./files/download";
import { removeStrayModels } from "./handlers/model";
import type { Context } from "./http/context";
import { dropNeedless } from "./store/forgotten";
import type { DatasetTable } from "./store/tables";

const everyMs = 60 * 60 * 1000;

/** How long ended jobs can be read; successful trainings always can, for they tell how good their models are. */
const jobsKeptMs = 365 * 24 * 60 * 60 * 1000;

/** Tidies up from time to time until the service closes. */
export async function keepTidy(context: Context): Promise<void> {
  const { clock, closing, log } = context;
  for (;;) {
    await clock.wait(everyMs, closing);
    if (closing.aborted) return;
    await tidy(context).catch((error) => log.error({ err: error }, "tidying up failed; trying again later"));
    context.sweep();
  }
}

/** Removes what nobody can ask for any more. */
export async function tidy(context: Context): Promise<void> {
  await removeStrayModels(context);
  await removeExpiredResults(context);
  await context.idempotency.prune();
  await removeOldJobs(context);
  await context.store.transaction(dropNeedless);
}

async function removeExpiredResults({ folder, store, clock }: Context): Promise<void> {
  const results = resultsIn(folder);
  const rows = await store.db
    .selectFrom("jobs")
    .select("id")
    .where((of) =>
      of.or([of("finished_ts", "is", null), of("finished_ts", ">", clock.now() - lifetimeSec * 1000)]),
    )
    .execute();
  const kept = new Set(rows.map(({ id }) => id));
  for (const { jobId, file } of results) if (!kept.has(jobId)) rmSync(file, { force: true });
}

/** Removes the results of queries and clusterings that were made from a dataset, because they list its users. */
export async function removeResultsOf({ folder, store }: Context, dataset: DatasetTable): Promise<void> {
  const rows = await store.db
    .selectFrom("jobs")
    .innerJoin("projects", "projects.id", "jobs.project_id")
    .select("jobs.id")
    .where("projects.event_dataset_id", "=", dataset.id)
    .where("jobs.finished_ts", "is not", null)
    .execute();
  const doomed = new Set(rows.map(({ id }) => id));
  for (const { jobId, file } of resultsIn(folder)) if (doomed.has(jobId)) rmSync(file, { force: true });
}

async function removeOldJobs({ store, clock }: Context): Promise<void> {
  await store.transaction((db) =>
    db
      .deleteFrom("jobs")
      .where("finished_ts", "<=", clock.now() - jobsKeptMs)
      .where((of) => of.not(of.and([of("job_type", "=", "TRAINING"), of("status", "=", "SUCCEED")])))
      .where("id", "not in", db.selectFrom("deployments").select("job_id"))
      .execute(),
  );
}

function resultsIn(folder: Context["folder"]): { jobId: string; file: string }[] {
  const path = dirname(folder.resultFile("any", "json"));
  return readdirSync(path).map((name) => ({ jobId: name.split(".")[0] as string, file: join(path, name) }));
}
