import { CompiledQuery, sql } from "kysely";
import type { EventsChange } from "./changes";
import { type Db, isPostgres } from "./database";
import type { Dataset, EventTable } from "./tables";

/** The last `seq` in use. */
export async function lastSeqIn(db: Db): Promise<number> {
  // Some of these may not be committed yet, but none that comes later has a smaller one.
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

/** Counts that events of a dataset were deleted or replaced, in the transaction that does it. */
export async function countDeletion(db: Db, dataset: Pick<Dataset, "number">): Promise<number> {
  const { deletions } = await db
    .updateTable("datasets")
    .set((of) => ({ deletions: of("deletions", "+", 1) }))
    .where("number", "=", dataset.number)
    .returning("deletions")
    .executeTakeFirstOrThrow();
  return deletions;
}

/** An event that is to be written. */
export type NewEvent = Omit<EventTable, "seq">;

/** The ids of those events that were not there before, and what the memory of deployments must know. */
export interface Written {
  readonly fresh: Iterable<string>;
  readonly change?: EventsChange;
}

/** Writes events of one dataset, each in place of the one that has its id. */
export function writeEvents(
  db: Db,
  dataset: Dataset,
  events: readonly NewEvent[],
  takeSeqs: (count: number) => number,
): Promise<Written> {
  return isPostgres(db) ? writeAtOnce(db, dataset, events) : writeWithSeqs(db, dataset, events, takeSeqs);
}

async function writeAtOnce(db: Db, { number }: Dataset, events: readonly NewEvent[]): Promise<Written> {
  // In the same order in every transaction, so that no two wait for each other.
  const rows = [...events].sort((a, b) => (a.event_id < b.event_id ? -1 : 1));
  const all = <K extends keyof NewEvent>(key: K) => rows.map((row) => row[key]);
  const { rows: answers } = await sql<{ replaced: number; fresh: string[] | null }>`/* upsert-events */
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
  const { replaced, fresh } = answers[0] as { replaced: number; fresh: string[] | null };
  return { fresh: replaced === 0 ? all("event_id") : (fresh ?? []) };
}

/** Known ones are taken out and written anew, so that they too carry a new seq. */
async function writeWithSeqs(
  db: Db,
  dataset: Dataset,
  events: readonly NewEvent[],
  takeSeqs: (count: number) => number,
): Promise<Written> {
  const first = takeSeqs(events.length);
  const come = events.map((event, at) => ({ seq: first + at, ...event }));
  const written = await insertEvents(db, come);
  if (written === come.length) {
    const change = { dataset: dataset.number, deletions: 0, gone: [], come };
    return { fresh: come.map((row) => row.event_id), change };
  }
  const inserted = await db
    .selectFrom("events")
    .select("seq")
    .where("seq", ">=", first)
    .where("seq", "<", first + come.length)
    .execute();
  const isNew = new Set(inserted.map(({ seq }) => seq));
  const known = come.filter(({ seq }) => !isNew.has(seq));
  const gone = await db
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
    fresh: come.filter(({ seq }) => isNew.has(seq)).map((row) => row.event_id),
    change: { dataset: dataset.number, deletions, gone, come },
  };
}

const rowsPerInsert = 100;
/** Texts of inserts by their number of rows; only the texts, because a compiled query holds on to its rows. */
const inserts = new Map<number, string>();

/** Writes the rows whose ids are not there yet and returns how many these were. */
async function insertEvents(db: Db, rows: readonly EventTable[]): Promise<number> {
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
