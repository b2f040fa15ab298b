import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatasetTable } from "../store/tables";
import type { Basis } from "./basis";
import { lifetimeSec } from "./download";
import type { Folder } from "./folder";

/** Removes the results whose addresses have expired. */
export async function removeExpiredResults({ folder, store, clock }: Basis): Promise<void> {
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

/** Removes the results of queries and clusterings that were computed from a dataset, because they list its users. */
export async function removeResultsOf({ folder, store }: Basis, dataset: DatasetTable): Promise<void> {
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

/** Removes what a job has written that did not succeed. */
export function removeResult(folder: Folder, job: string): void {
  for (const { jobId, file } of resultsIn(folder)) if (jobId === job) rmSync(file, { force: true });
}

function resultsIn(folder: Folder): { jobId: string; file: string }[] {
  const path = dirname(folder.resultFile("any", "json"));
  return readdirSync(path).map((name) => ({ jobId: name.split(".")[0] as string, file: join(path, name) }));
}
