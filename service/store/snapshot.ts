import { type RawBuilder, sql } from "kysely";
import { limits } from "../../contract";
import { type AttributeSchema, type Attributes, type AttributeTable, sumOf } from "../algorithms";
import type { IdIndex } from "../base/id-index";
import { type Db, datasetColumn, isPostgres } from "./database";
import type { ProjectData } from "./project-data";
import { RecordTexts } from "./record-texts";

const rowsPerPage = 10_000;
/** Small pages, so the garbage collector can free a page before the next one is read. */
const eventsPerPage = 2000;
/** Even smaller pages, because attributes may be long. */
const recordsPerPage = 1000;

/** Runs reads in one transaction that sees none of the concurrent writes. */
export function snapshot<T>(db: Db, read: (db: Db) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel("repeatable read").execute(read);
}

/** Returns the weight of an event value, as a 32-bit number like all numbers in a model. */
export function weightOf(value: number): number {
  // Early versions stored values that exceed the current limit.
  return Math.fround(Math.max(-limits.eventValue, Math.min(limits.eventValue, value)));
}

/** Returns the count of deletions of an event dataset, or undefined if the dataset is deleted. */
export async function deletionsOf(db: Db, { number }: ProjectData["events"]): Promise<number | undefined> {
  const dataset = await db
    .selectFrom("datasets")
    .select("deletions")
    .where("number", "=", number)
    .where("kind", "=", "event")
    .executeTakeFirst();
  return dataset?.deletions;
}

/** Returns the number of upserts so far into a dataset of users or items. */
export async function changesOf(db: Db, { number }: { readonly number: number }): Promise<number> {
  const dataset = await db
    .selectFrom("datasets")
    .select("changes")
    .where("number", "=", number)
    .executeTakeFirst();
  return dataset?.changes ?? 0;
}

/** Receives one event after another. */
type Visit = (userId: string, itemId: string, value: number, ts: number, type: string) => void;

/**
 * Visits the events of a project that have one of the given types, inside a transaction. Unless something is written,
 * the order is always the same.
 */
export async function eachEvent(
  db: Db,
  data: ProjectData,
  types: readonly string[],
  visit: Visit,
  { withTime = false } = {},
): Promise<void> {
  if (isPostgres(db)) return eachByUser(db, data, types, visit, withTime);
  const ofTypes = sql`and event_type in (${sql.join(types)})`;
  for (let last = 0; ; ) {
    const page = sql`select seq, user_id, item_id, ts, event_type, event_value from events
      where seq > ${last} and ${datasetColumn(db)} = ${data.events.number} ${ofTypes}
      order by seq limit ${eventsPerPage}`;
    const { count, seq, isExact, ...lists } = await listsOf(db, page);
    const [users, items, times, kinds] = [lists.users, lists.items, lists.times, lists.types].map((list) =>
      JSON.parse(list),
    ) as [string[], string[], number[], string[]];
    const values: number[] = isExact ? JSON.parse(lists.values) : await valuesOf(db, page);
    for (let at = 0; at < count; at++)
      visit(
        users[at] as string,
        items[at] as string,
        weightOf(values[at] as number),
        times[at] as number,
        kinds[at] as string,
      );
    if (count < eventsPerPage) return;
    last = seq as number;
  }
}

/**
 * A page of events by column, as JSON texts. SQLite returns them in a third of the time that it takes to return rows.
 */
interface EventLists {
  readonly count: number;
  /** Last `seq` of the page; null if the page is empty. */
  readonly seq: number | null;
  readonly users: string;
  readonly items: string;
  readonly times: string;
  readonly types: string;
  readonly values: string;
  /** 1 if all values are exact in JSON. SQLite writes only 15 digits of a number. */
  readonly isExact: 0 | 1;
}

async function listsOf(db: Db, page: RawBuilder<unknown>): Promise<EventLists> {
  const { rows } = await sql<EventLists>`select count(*) as count, max(seq) as seq,
    json_group_array(user_id) as users, json_group_array(item_id) as items, json_group_array(ts) as times,
    json_group_array(event_type) as types, json_group_array(event_value) as "values",
    total((abs(event_value) >= 1e15 or event_value <> cast(event_value as integer))
      and event_value <> cast(cast(event_value as text) as real)) = 0 as "isExact"
    from (${page})`.execute(db);
  return rows[0] as EventLists;
}

async function valuesOf(db: Db, page: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await sql<{ event_value: number }>`select event_value from (${page})`.execute(db);
  return rows.map(({ event_value }) => event_value);
}

/** One of a user's items, with the sum of its event values. */
export interface Pair {
  readonly itemId: string;
  readonly sum: number;
  /** Time of the last event. */
  readonly time: number;
}

/**
 * Visits the pairs with a positive sum, user by user, in the order of item ids. Only one user's pairs are in memory at
 * a time.
 */
export async function eachUsersPairs(
  db: Db,
  data: ProjectData,
  visit: (userId: string, pairs: Pair[]) => void,
): Promise<void> {
  let current: string | undefined;
  let values = new Map<string, { readonly weights: number[]; time: number }>();
  const end = () => {
    const pairs = [...values]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([itemId, { weights, time }]) => ({
        itemId,
        sum: Math.fround(sumOf(Float32Array.from(weights))),
        time,
      }));
    const positive = pairs.filter(({ sum }) => sum > 0);
    if (current !== undefined && positive.length > 0) visit(current, positive);
  };
  const add = (userId: string, itemId: string, weight: number, ts: number) => {
    if (userId !== current) {
      end();
      current = userId;
      values = new Map();
    }
    const pair = values.get(itemId) ?? { weights: [], time: ts };
    pair.weights.push(weight);
    pair.time = Math.max(pair.time, ts);
    values.set(itemId, pair);
  };
  if (isPostgres(db)) await eachByUser(db, data, [data.targetEventType], add, true);
  else {
    const events = db
      .selectFrom("events")
      .select(["user_id", "item_id", "event_value", "ts"])
      .where(datasetColumn(db), "=", data.events.number)
      .where("event_type", "=", data.targetEventType)
      .orderBy("user_id")
      .orderBy("seq");
    // SQLite sorts large results on disk, so this needs little memory.
    for await (const row of events.stream()) add(row.user_id, row.item_id, weightOf(row.event_value), row.ts);
  }
  end();
}

/** Counts the users with target events, and checks whether these events have different times. */
export async function usersWithTargetEvents(
  db: Db,
  data: ProjectData,
): Promise<{ readonly users: number; readonly haveTime: boolean }> {
  const { users, first, last } = await db
    .selectFrom("events")
    .select((of) => [
      of.fn.count<number>("user_id").distinct().as("users"),
      of.fn.min("ts").as("first"),
      of.fn.max("ts").as("last"),
    ])
    .where("dataset", "=", data.events.number)
    .where("event_type", "=", data.targetEventType)
    .executeTakeFirstOrThrow();
  return { users: Number(users), haveTime: Number(first) !== Number(last) };
}

/**
 * Reads the events user by user through a cursor, inside a transaction. Separate queries for each page would sort a
 * user's events again for each page. Each row is one JSON text, because `pg` takes several times as long for columns.
 */
async function eachByUser(
  db: Db,
  data: ProjectData,
  types: readonly string[],
  visit: Visit,
  withTime: boolean,
): Promise<void> {
  await sql`declare events_by_user no scroll cursor for
    select json_build_array(user_id, item_id, event_value, event_type ${withTime ? sql`, ts` : sql``})::text as event
    from events where dataset = ${data.events.number} and event_type = any(${types})
    order by user_id, seq`.execute(db);
  for (;;) {
    const { rows } = await sql<{ event: string }>`fetch ${sql.lit(rowsPerPage)} from events_by_user`.execute(
      db,
    );
    for (const [userId, itemId, value, type, ts] of JSON.parse(
      `[${rows.map(({ event }) => event)}]`,
    ) as UserEvent[])
      visit(userId, itemId, weightOf(value), ts ?? 0, type);
    if (rows.length < rowsPerPage) break;
  }
  await sql`close events_by_user`.execute(db);
}

type UserEvent = [userId: string, itemId: string, value: number, type: string, ts?: number];

/** Visits the users or items of a dataset in the order of their ids. */
export function eachRecord(
  db: Db,
  dataset: number,
  visit: (id: string, attributes: Attributes) => void,
): Promise<void> {
  return eachRecordText(db, dataset, (id, text) => visit(id, JSON.parse(text)));
}

/**
 * Visits the records of a dataset, except those of forgotten users, with their attributes as JSON. After each page, it
 * waits for `afterPage`.
 */
export async function eachRecordText(
  db: Db,
  dataset: number,
  visit: (id: string, attributes: string) => void,
  afterPage?: () => Promise<void> | undefined,
): Promise<void> {
  let last = "";
  for (;;) {
    const rows = await db
      .selectFrom("records")
      .select(["record_id", "attributes"])
      .where("dataset", "=", dataset)
      .where("record_id", ">", last)
      .where("forgotten", "=", 0)
      .orderBy("record_id")
      .limit(recordsPerPage)
      .execute();
    for (const row of rows) visit(row.record_id, row.attributes);
    if (rows.length < recordsPerPage) return;
    await afterPage?.();
    last = (rows.at(-1) as (typeof rows)[number]).record_id;
  }
}

/**
 * Reads the records that were written after the dataset's count of upserts was `after`, in pages. The order is the same
 * in all processes.
 */
export async function* writtenRecords(db: Db, dataset: number, after: number) {
  let last = { changed: after + 1, record_id: "" };
  for (;;) {
    const rows = await db
      .selectFrom("records")
      .select(["record_id", "changed", "attributes"])
      .where("dataset", "=", dataset)
      .where(({ eb, refTuple, tuple }) =>
        eb.and([
          eb("changed", ">=", last.changed),
          eb(refTuple("changed", "record_id"), ">", tuple(last.changed, last.record_id)),
        ]),
      )
      .orderBy("changed")
      .orderBy("record_id")
      .limit(recordsPerPage)
      .execute();
    yield rows;
    if (rows.length < recordsPerPage) return;
    last = rows.at(-1) as (typeof rows)[number];
  }
}

/** Returns the attributes of a dataset's records. Each record is stored at the index of its id. */
export async function attributeTable(
  db: Db,
  dataset: { number: number; attribute_schema: string | null },
  places: IdIndex,
): Promise<AttributeTable & { readonly records: RecordTexts }> {
  const records = new RecordTexts();
  await eachRecordText(db, dataset.number, (id, text) => records.set(places.add(id), text));
  const schema =
    dataset.attribute_schema === null ? null : (JSON.parse(dataset.attribute_schema) as AttributeSchema);
  return { schema, records };
}
