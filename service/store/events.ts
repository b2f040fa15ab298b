import { CompiledQuery, sql } from "kysely";
import type { EventsChange } from "./changes";
import { type Db, isPostgres } from "./database";
import { prepared } from "./prepared";
import type { Dataset, EventTable } from "./tables";

/** Returns the largest `seq` in use. */
export async function lastSeqIn(db: Db): Promise<number> {
  // Rows up to this `seq` may not be committed yet, but rows that are written later have a larger `seq`.
  if (isPostgres(db)) {
    const { rows } = await sql<{ last: number }>`select last_value as last from events_seq_seq`.execute(db);
    return rows[0]?.last ?? 0;
  }
  const { last } = await db
    .selectFrom("events")
    .select((of) => of.fn.max<number | null>("seq").as("last"))
    .executeTakeFirstOrThrow();
  return last ?? 0;
}

/** Increments a dataset's count of deletions. Call it in the transaction that deletes events or forgets a user. */
export async function countDeletion(db: Db, dataset: Pick<Dataset, "number">): Promise<number> {
  const { deletions } = await db
    .updateTable("datasets")
    .set((of) => ({ deletions: of("deletions", "+", 1) }))
    .where("number", "=", dataset.number)
    .returning("deletions")
    .executeTakeFirstOrThrow();
  return deletions;
}

/** An event without its `seq`, which is assigned when it is written. */
export type NewEvent = Omit<EventTable, "seq">;

/** Result of an upsert of events: the new ids, and for an embedded database, the change to pass to deployments. */
export interface Written {
  readonly fresh: Iterable<string>;
  readonly change?: EventsChange;
}

/** Upserts events of one dataset. An event with a known id replaces the earlier one. */
export function writeEvents(
  db: Db,
  dataset: Dataset,
  events: readonly NewEvent[],
  takeSeqs: (count: number) => number,
): Promise<Written> {
  return isPostgres(db) ? writeAtOnce(db, dataset, events) : writeWithSeqs(db, dataset, events, takeSeqs);
}

async function writeAtOnce(db: Db, { number }: Dataset, events: readonly NewEvent[]): Promise<Written> {
  // The same order in every transaction prevents deadlocks.
  const rows = [...events].sort((a, b) => (a.event_id < b.event_id ? -1 : 1));
  const all = <K extends keyof NewEvent>(key: K) => rows.map((row) => row[key]);
  const { rows: results } = await sql<{
    replaced: number;
    fresh: string[] | null;
  }>`${prepared("upsert-events")}
    with written as (
      insert into events (dataset, event_id, user_id, item_id, ts, event_type, event_value, attributes)
      select ${number}::int, * from unnest(
        ${all("event_id")}::text[], ${all("user_id")}::text[], ${all("item_id")}::text[], ${all("ts")}::bigint[],
        ${all("event_type")}::text[], ${all("event_value")}::double precision[], ${all("attributes")}::text[])
      on conflict (dataset, event_id) do update set
        seq = default, user_id = excluded.user_id, item_id = excluded.item_id, ts = excluded.ts,
        event_type = excluded.event_type, event_value = excluded.event_value, attributes = excluded.attributes
      returning event_id, xmax = 0 as is_fresh)
    select count(*) filter (where not is_fresh) as replaced,
      case when not bool_and(is_fresh) then array_agg(event_id) filter (where is_fresh) end as fresh
    from written`.execute(db);
  const { replaced, fresh } = results[0] as { replaced: number; fresh: string[] | null };
  return { fresh: replaced === 0 ? all("event_id") : (fresh ?? []) };
}

/**
 * Inserts the events. If an id already exists, the earlier event is deleted, because its replacement needs a new `seq`.
 */
async function writeWithSeqs(
  db: Db,
  dataset: Dataset,
  events: readonly NewEvent[],
  takeSeqs: (count: number) => number,
): Promise<Written> {
  const first = takeSeqs(events.length);
  const rows = events.map((event, at) => ({ seq: first + at, ...event }));
  const written = await insertEvents(db, rows);
  if (written === rows.length) {
    const change = { dataset: dataset.number, deletions: 0, deleted: [], written: rows };
    return { fresh: rows.map((row) => row.event_id), change };
  }
  const inserted = await db
    .selectFrom("events")
    .select("seq")
    .where("seq", ">=", first)
    .where("seq", "<", first + rows.length)
    .execute();
  const isNew = new Set(inserted.map(({ seq }) => seq));
  const known = rows.filter(({ seq }) => !isNew.has(seq));
  const deleted = await db
    .deleteFrom("events")
    .where("dataset", "=", dataset.number)
    .where(
      "event_id",
      "in",
      known.map((row) => row.event_id),
    )
    .returning(["seq", "user_id", "item_id", "event_type", "event_value"])
    .execute();
  await insertEvents(db, known);
  const deletions = await countDeletion(db, dataset);
  return {
    fresh: rows.filter(({ seq }) => isNew.has(seq)).map((row) => row.event_id),
    change: { dataset: dataset.number, deletions, deleted, written: rows },
  };
}

const rowsPerInsert = 100;
/** SQL of inserts by their number of rows. Compiled queries are not cached, because they reference their rows. */
const inserts = new Map<number, string>();

/** Inserts the rows whose ids are not in the table, and returns their number. */
async function insertEvents(db: Db, rows: readonly EventTable[]): Promise<number> {
  let written = 0;
  for (let from = 0; from < rows.length; from += rowsPerInsert) {
    const batch = rows.slice(from, from + rowsPerInsert);
    const { numAffectedRows } = await db.executeQuery(insertOf(db, batch));
    written += Number(numAffectedRows ?? 0);
  }
  return written;
}

/** Returns an insert with cached SQL. Compiling an insert of many rows takes as long as running it. */
function insertOf(db: Db, rows: readonly EventTable[]): CompiledQuery {
  let text = inserts.get(rows.length);
  if (text === undefined) {
    text = db
      .insertInto("events")
      .values(rows)
      .onConflict((on) => on.columns(["dataset", "event_id"]).doNothing())
      .compile().sql;
    inserts.set(rows.length, text);
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
  return CompiledQuery.raw(text, parameters);
}
