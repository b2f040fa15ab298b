import { type Db, datasetColumn, isPostgres } from "./database";
import { lastSeqIn } from "./events";
import { countRows } from "./find";
import { hasEventsBySeq } from "./indexes";
import type { Dataset, EventTable } from "./tables";

const columns = ["seq", "event_id", "user_id", "item_id", "ts", "event_type", "event_value"] as const;
type EventColumns = Pick<EventTable, (typeof columns)[number]>;

const sqliteStep = 5000;
/** Larger steps for PostgreSQL, because each one is a network round trip. */
const postgresStep = 20_000;
/** Maximum number of rows to search for the events of one user or item if there is no index. */
const maxSearched = 400_000;
const maxCounted = 200_000;

/**
 * Reads the newest events of a dataset in steps, so other work can run in between. Returns none while PostgreSQL still
 * builds the index of events by `seq`.
 * @param maxRows - maximum number of rows to search, including rows of other datasets
 */
export async function* newestEvents(
  db: Db,
  dataset: Dataset,
  maxRows: number,
  filter?: { readonly column: "user_id" | "item_id"; readonly id: string },
): AsyncGenerator<EventColumns[]> {
  if (!(await hasEventsBySeq(db))) return;
  const step = isPostgres(db) ? Math.min(maxRows, postgresStep) : sqliteStep;
  let end = await lastSeqIn(db);
  for (const begin = Math.max(0, end - maxRows); end > begin; end -= step) {
    let query = db
      .selectFrom("events")
      .select(columns)
      .where("seq", "<=", end)
      .where("seq", ">", end - step)
      .where(datasetColumn(db), "=", dataset.number)
      .orderBy("seq", "desc");
    if (filter) query = query.where(filter.column, "=", filter.id);
    yield await query.execute();
    await new Promise(setImmediate);
  }
}

/** Reads the newest events of a user or an item, in one or several steps. It may return more than `limit` events. */
export async function* newestEventsOf(
  db: Db,
  dataset: Dataset,
  kind: "user" | "item",
  id: string,
  limit: number,
): AsyncGenerator<EventColumns[]> {
  if (isPostgres(db) && kind === "user") yield await newestByIndex(db, dataset, id, limit);
  else yield* newestEvents(db, dataset, maxSearched, { column: `${kind}_id`, id });
}

/** Finds the newest events of a user in PostgreSQL with the index on users, then reads them by `seq`. */
async function newestByIndex(
  db: Db,
  { number }: Dataset,
  userId: string,
  limit: number,
): Promise<EventColumns[]> {
  if (!(await hasEventsBySeq(db))) return [];
  const found = await db
    .selectFrom("events")
    .select("seq")
    .where("dataset", "=", number)
    .where("user_id", "=", userId)
    .orderBy("seq", "desc")
    .limit(limit)
    .execute();
  if (found.length === 0) return [];
  return db
    .selectFrom("events")
    .select(columns)
    .where("dataset", "=", number)
    .where(
      "seq",
      "in",
      found.map(({ seq }) => seq),
    )
    .orderBy("seq", "desc")
    .execute();
}

/** Returns up to `most` users with the newest events of a dataset, the most recent first. */
export async function recentUsers(db: Db, dataset: Dataset, most: number): Promise<string[]> {
  const users = new Set<string>();
  for await (const events of newestEvents(db, dataset, maxSearched)) {
    for (const { user_id: user } of events) {
      users.add(user);
      if (users.size === most) return [...users];
    }
  }
  return [...users];
}

/** Counts the events after a sequence number, up to a limit. Returns null while PostgreSQL still builds the index. */
export async function countEventsSince(db: Db, dataset: number, seq: number, most = maxCounted) {
  if (!(await hasEventsBySeq(db))) return null;
  const newer = db
    .selectFrom("events")
    .select("seq")
    .where("seq", ">", seq)
    .where(datasetColumn(db), "=", dataset)
    .orderBy("seq")
    .limit(most + 1);
  const count = await countRows(db, newer);
  return { count: Math.min(count, most), isMore: count > most };
}
