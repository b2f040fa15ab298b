import { removeForgotten } from "../files/remove-users";
import type { Files } from "../files/storage/files";
import type { Db, Store } from "../store/database";
import { forgetInEvents, forgetRecord } from "../store/forget-user";
import { modelsWithForgotten } from "../store/forgotten";
import { forgetRefused } from "../store/history/refusals";
import { countShards } from "../store/shards";

/** Users per statement. */
const batchSize = 500;

/** Deletes users from all datasets of a database that is not in use. */
export async function forgetEverywhere(db: Db, users: readonly string[]): Promise<void> {
  if (users.length === 0) return;
  const datasets = await db.selectFrom("datasets").selectAll().orderBy("number").execute();
  for (let from = 0; from < users.length; from += batchSize) {
    const batch = users.slice(from, from + batchSize);
    for (const dataset of datasets) {
      const deleted = await db
        .deleteFrom("events")
        .where("dataset", "=", dataset.number)
        .where("user_id", "in", batch)
        .returning("event_id")
        .execute();
      const ids = deleted.map(({ event_id }) => event_id);
      if (dataset.kind === "event") await countShards(db, dataset, ids, -1);
    }
  }
  for (const userId of users) {
    for (const dataset of datasets) {
      if (dataset.kind === "user") await forgetRecord(db, dataset, userId);
      else if (dataset.kind !== "item") await forgetInEvents(db, dataset, userId);
    }
    await forgetRefused(
      db,
      datasets.map(({ number }) => number),
      userId,
    );
  }
}

/** Removes forgotten users from all model files. */
export async function removeFromModels(store: Store, files: Files): Promise<void> {
  for (const id of await modelsWithForgotten(store.db)) {
    const forgotten_until = await removeForgotten(store.db, files, id);
    if (forgotten_until !== undefined)
      await store.exclusively((db) =>
        db.updateTable("models").set({ forgotten_until }).where("id", "=", id).execute(),
      );
  }
}
