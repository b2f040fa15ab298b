import type { Context } from "./context";
import type { DatasetTable } from "./dataset";
import { countDeletion } from "./event";
import { countShards } from "./outcome";
import type { EventsChange } from "./serving";
import { type Store, unindexed } from "./store";

/** Which events of a dataset are to go: those of a user, or those of a time. */
export interface Doomed {
  readonly userId?: string;
  readonly from?: number;
  readonly before?: number;
}

const seqsPerStep = 20_000;
const rowsPerStep = 1000;

/** Deletes events step by step, each step a transaction, so that other calls come in between. */
export async function deleteEvents(context: Context, dataset: DatasetTable, doomed: Doomed): Promise<void> {
  // Events that come while this runs lie behind the end and stay.
  const end = context.lastSeq();
  let from = 0;
  while (from < end) {
    const to = Math.min(from + seqsPerStep, end);
    let change: EventsChange | undefined;
    const gone = await context.store.transaction(async (db) => {
      let doomedSeqs = db
        .selectFrom("events")
        .select("seq")
        .where(unindexed("dataset"), "=", dataset.number)
        .where("seq", ">", from)
        .where("seq", "<=", to)
        .orderBy("seq")
        .limit(rowsPerStep);
      if (doomed.userId !== undefined) doomedSeqs = doomedSeqs.where("user_id", "=", doomed.userId);
      if (doomed.from !== undefined) doomedSeqs = doomedSeqs.where("ts", ">=", doomed.from);
      if (doomed.before !== undefined) doomedSeqs = doomedSeqs.where("ts", "<", doomed.before);
      const rows = await db
        .deleteFrom("events")
        .where("seq", "in", doomedSeqs)
        .returning(["seq", "event_id", "user_id", "item_id", "event_type", "event_value"])
        .execute();
      await countShards(
        db,
        dataset,
        rows.map((row) => row.event_id),
        -1,
      );
      if (rows.length > 0) {
        change = {
          dataset: dataset.number,
          deletions: await countDeletion(db, dataset),
          gone: rows,
          come: [],
        };
      }
      return rows;
    });
    if (change) context.serving.tell(change);
    if (gone.length < rowsPerStep) from = to;
    else from = gone.reduce((last, row) => Math.max(last, row.seq), from);
    await new Promise(setImmediate);
  }
}

/** Removes what deleted datasets held; begun at each start too, for a kill may have come between. */
export async function sweepDeleted({ store, closing }: Context): Promise<void> {
  const deleted = await store.db
    .selectFrom("datasets")
    .select("number")
    .where("kind", "=", "deleted")
    .execute();
  for (const { number } of deleted) {
    while (!closing.aborted && (await sweepStep(store, number))) await new Promise(setImmediate);
  }
}

/** Whether there is more to remove. */
function sweepStep(store: Store, number: number): Promise<boolean> {
  return store.transaction(async (db) => {
    const some = db.selectFrom("events").select("seq").where("dataset", "=", number).limit(rowsPerStep);
    const { numDeletedRows } = await db
      .deleteFrom("events")
      .where("seq", "in", some)
      .executeTakeFirstOrThrow();
    if (Number(numDeletedRows) > 0) return true;
    await db.deleteFrom("shards").where("dataset", "=", number).execute();
    await db.deleteFrom("datasets").where("number", "=", number).execute();
    return false;
  });
}
