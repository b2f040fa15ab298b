import { notFound } from "../base/error";
import type { Db } from "./database";
import { countDeletion } from "./events";
import { forget } from "./forgotten";
import { forgetRefused } from "./history/refusals";
import { forgetInJobs } from "./job-users";
import { countShards } from "./shards";
import type { Dataset } from "./tables";

/** Returns an event dataset, even if it is deleted. Its models still exist, so users must be forgotten in them. */
export async function datasetToForgetIn(db: Db, id: string): Promise<Dataset> {
  const found = await db
    .selectFrom("datasets")
    .selectAll()
    .where("id", "=", id)
    .where("kind", "in", ["event", "deleted"])
    .executeTakeFirst();
  if (!found) throw notFound("event dataset", id, "create it first with /create-event-dataset");
  return found;
}

/**
 * Forgets a user whose events in a dataset are deleted. Earlier models ignore the user from now on, trainings ignore
 * the user's record, and the user is removed from lists of jobs and from the rejected records.
 */
export async function forgetInEvents(
  db: Db,
  dataset: Pick<Dataset, "id" | "number">,
  userId: string,
): Promise<void> {
  const deletions = await countDeletion(db, dataset);
  await forget(db, { eventDatasetId: dataset.id, userId, deletions });
  await forgetInJobs(db, dataset.id, userId);
  const users = (await userDatasetsOf(db, dataset.id)).map(({ number }) => number);
  if (users.length > 0)
    await db
      .updateTable("records")
      .set({ forgotten: 1 })
      .where("dataset", "in", users)
      .where("record_id", "=", userId)
      .execute();
  await forgetRefused(db, [dataset.number, ...users], userId);
}

/** Deletes the record of a user, and forgets the user in the event datasets of the same projects. Returns their ids. */
export async function forgetRecord(db: Db, dataset: Dataset, userId: string): Promise<string[]> {
  const { numDeletedRows } = await db
    .deleteFrom("records")
    .where("dataset", "=", dataset.number)
    .where("record_id", "=", userId)
    .executeTakeFirstOrThrow();
  if (Number(numDeletedRows) > 0) await countShards(db, dataset, [userId], -1);
  await forgetRefused(db, [dataset.number], userId);
  const datasets = await db
    .selectFrom("datasets")
    .select(["id", "number"])
    .where(
      "id",
      "in",
      db.selectFrom("projects").select("event_dataset_id").where("user_dataset_id", "=", dataset.id),
    )
    .orderBy("number")
    .execute();
  for (const one of datasets) await forgetInEvents(db, one, userId);
  return datasets.map(({ id }) => id);
}

/** Finds the user datasets of all projects that use an event dataset. */
function userDatasetsOf(db: Db, eventDatasetId: string): Promise<Pick<Dataset, "number">[]> {
  return db
    .selectFrom("datasets")
    .select("number")
    .where(
      "id",
      "in",
      db.selectFrom("projects").select("user_dataset_id").where("event_dataset_id", "=", eventDatasetId),
    )
    .execute();
}
