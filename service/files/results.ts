import { dropChunks } from "../store/chunks";
import { resultLifetimeSec } from "./download";
import type { ServiceContext } from "./service-context";
import { type Attempt, resultName } from "./storage/files";

/** Deletes results whose URLs have expired. A younger file may belong to a job that the database does not list yet. */
export async function removeExpiredResults({ files, store }: ServiceContext, now: number): Promise<void> {
  const expired = now - resultLifetimeSec * 1000;
  const listed = await files.list("results/job-");
  const rows = await store.db
    .selectFrom("jobs")
    .select(["id", "finished_ts"])
    .where((of) => of.or([of("finished_ts", "is", null), of("finished_ts", ">", expired)]))
    .execute();
  const unexpired = new Set(rows.map(({ id }) => id));
  const unfinished = new Set(rows.filter((row) => row.finished_ts === null).map(({ id }) => id));
  const withChunks = listed.filter(({ name }) => isChunk(name)).map(({ name }) => jobOf(name));
  for (const id of new Set(withChunks)) if (!unfinished.has(id)) await removeChunks({ files, store }, id);
  for (const { name, writtenTs } of listed)
    if (!unexpired.has(jobOf(name)) && writtenTs <= expired) await files.remove(name);
}

/** Deletes the results of all jobs that use the event datasets and whose results list users. */
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
  const affected = new Set(rows.map(({ id }) => id));
  // Usually no jobs are affected. This avoids listing all results, which is slow.
  if (affected.size === 0) return;
  for (const { name } of await files.list("results/job-"))
    if (affected.has(jobOf(name))) await files.remove(name);
}

/**
 * Deletes the chunks of a recommendation job that has ended, and their rows. Housekeeping repeats it if the process died
 * before.
 */
export async function removeChunks(
  { files, store }: Pick<ServiceContext, "files" | "store">,
  jobId: string,
): Promise<void> {
  for (const { name } of await files.list(`results/${jobId}.`)) if (isChunk(name)) await files.remove(name);
  await store.concurrently((db) => dropChunks(db, jobId));
}

function isChunk(name: string): boolean {
  return name.includes(".chunk-");
}

/** Deletes the result of an attempt, unless the job succeeded after all: its commit was in doubt, but took effect. */
export async function removeResult(
  { files, store }: ServiceContext,
  { id, attempt }: Attempt,
): Promise<void> {
  const jobs = store.db.selectFrom("jobs").select("id").where("id", "=", id).where("attempt", "=", attempt);
  if (await jobs.where("status", "=", "SUCCEED").executeTakeFirst()) return;
  // The next attempt continues after the chunks.
  for (const { name } of await files.list(resultName({ id, attempt }, "")))
    if (!isChunk(name)) await files.remove(name);
}

function jobOf(name: string): string {
  return name.slice("results/".length).split(".")[0] as string;
}
