import { CompiledQuery } from "kysely";
import type { Db } from "./database";
import type { DatasetTable, EventTable } from "./tables";

/** The last `seq` in use. */
export async function lastSeqIn(db: Db): Promise<number> {
  const { last } = await db
    .selectFrom("events")
    .select((of) => of.fn.max<number | null>("seq").as("last"))
    .executeTakeFirstOrThrow();
  return last ?? 0;
}

/** Counts that events of a dataset were deleted or replaced, in the transaction that does it. */
export async function countDeletion(db: Db, dataset: DatasetTable): Promise<number> {
  const { deletions } = await db
    .updateTable("datasets")
    .set((of) => ({ deletions: of("deletions", "+", 1) }))
    .where("number", "=", dataset.number)
    .returning("deletions")
    .executeTakeFirstOrThrow();
  return deletions;
}

const rowsPerInsert = 100;
const inserts = new Map<number, CompiledQuery>();

/** Writes the rows whose ids are not there yet and returns how many these were. */
export async function insertEvents(db: Db, rows: readonly EventTable[]): Promise<number> {
  let written = 0;
  for (let from = 0; from < rows.length; from += rowsPerInsert) {
    const some = rows.slice(from, from + rowsPerInsert);
    const { numAffectedRows } = await db.executeQuery(insertOf(db, some));
    written += Number(numAffectedRows ?? 0);
  }
  return written;
}

/** Compiling an insert of many rows costs as much as running it, so its text is kept by the number of rows. */
function insertOf(db: Db, rows: readonly EventTable[]): CompiledQuery {
  let query = inserts.get(rows.length);
  if (!query) {
    query = db
      .insertInto("events")
      .values(rows)
      .onConflict((on) => on.columns(["dataset", "event_id"]).doNothing())
      .compile();
    inserts.set(rows.length, query);
  }
  const parameters = rows.flatMap((row) => [
    row.seq,
    row.dataset,
    row.event_id,
    row.user_id,
    row.item_id,
    row.ts,
    row.event_type,
    row.event_value,
    row.attributes,
  ]);
  return CompiledQuery.raw(query.sql, parameters);
}
