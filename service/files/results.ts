import { resultLifetimeSec } from "./download";
import type { ServiceContext } from "./service-context";
import { type Attempt, resultName } from "./storage/files";

/** Removes the results whose addresses had expired by `now`; a file that is younger than that may be of an unknown job. */
export async function removeExpiredResults({ files, store }: ServiceContext, now: number): Promise<void> {
  const expired = now - resultLifetimeSec * 1000;
  const listed = await files.list("results/job-");
  const rows = await store.db
    .selectFrom("jobs")
    .select("id")
    .where((of) => of.or([of("finished_ts", "is", null), of("finished_ts", ">", expired)]))
    .execute();
  const kept = new Set(rows.map(({ id }) => id));
  for (const { name, writtenTs } of listed)
    if (!kept.has(jobOf(name)) && writtenTs <= expired) await files.remove(name);
}

/** Removes the results of queries and clusterings that were computed from event datasets, because they list users. */
export async function removeResultsOfDatasets(
  { files, store }: ServiceContext,
  eventDatasetIds: readonly string[],
): Promise<void> {
  if (eventDatasetIds.length === 0) return;
  const rows = await store.db
    .selectFrom("jobs")
    .innerJoin("projects", "projects.id", "jobs.project_id")
    .select("jobs.id")
    .where("projects.event_dataset_id", "in", eventDatasetIds)
    .where("jobs.finished_ts", "is not", null)
    .where("jobs.job_type", "not in", ["TRAINING", "DEPLOYMENT"])
    .execute();
  const doomed = new Set(rows.map(({ id }) => id));
  // Most often there are none, and the list is one of all results.
  if (doomed.size === 0) return;
  for (const { name } of await files.list("results/job-"))
    if (doomed.has(jobOf(name))) await files.remove(name);
}

/** Removes what a try of a job has written, unless it has succeeded after all and only the answer to that was lost. */
export async function removeResult(
  { files, store }: ServiceContext,
  { id, attempt }: Attempt,
): Promise<void> {
  const jobs = store.db.selectFrom("jobs").select("id").where("id", "=", id).where("attempt", "=", attempt);
  if (await jobs.where("status", "=", "SUCCEED").executeTakeFirst()) return;
  for (const { name } of await files.list(resultName({ id, attempt }, ""))) await files.remove(name);
}

function jobOf(name: string): string {
  return name.slice("results/".length).split(".")[0] as string;
}
