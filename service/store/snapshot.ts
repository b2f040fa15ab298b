import { limits } from "../../contract";
import type { AttributeSchema, Attributes, AttributeTable } from "../algorithms";
import type { Places } from "../base/places";
import { type Db, isPostgres, unindexed } from "./database";
import type { ProjectData } from "./project-data";

const rowsPerPage = 10_000;

/** Carries out the reading against one unchanging state of the database, whatever is written meanwhile. */
export function snapshot<T>(db: Db, read: (db: Db) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel("repeatable read").execute(read);
}

/** What an event of that value weighs: a 32-bit number, for models hold no longer ones. */
export function weightOf(value: number): number {
  // Values were stored before there was a limit.
  return Math.fround(Math.max(-limits.eventValue, Math.min(limits.eventValue, value)));
}

/** How often events of the dataset were deleted until now; undefined where the dataset itself was. */
export async function deletionsOf(db: Db, { number }: ProjectData["events"]): Promise<number | undefined> {
  const dataset = await db
    .selectFrom("datasets")
    .select("deletions")
    .where("number", "=", number)
    .where("kind", "=", "event")
    .executeTakeFirst();
  return dataset?.deletions;
}

/** How many upserts of records a dataset has had. */
export async function changesOf(db: Db, { number }: { readonly number: number }): Promise<number> {
  const dataset = await db
    .selectFrom("datasets")
    .select("changes")
    .where("number", "=", number)
    .executeTakeFirst();
  return dataset?.changes ?? 0;
}

/** Visits the target events of a project in an order that only their writing changes. */
export async function eachTargetEvent(
  db: Db,
  data: ProjectData,
  visit: (userId: string, itemId: string, value: number) => void,
): Promise<void> {
  if (isPostgres(db)) return eachByUser(db, data, visit);
  let last = 0;
  for (;;) {
    const rows = await db
      .selectFrom("events")
      .select(["seq", "user_id", "item_id", "event_value"])
      .where("seq", ">", last)
      .where(unindexed("dataset"), "=", data.events.number)
      .where("event_type", "=", data.targetEventType)
      .orderBy("seq")
      .limit(rowsPerPage)
      .execute();
    for (const row of rows) visit(row.user_id, row.item_id, weightOf(row.event_value));
    if (rows.length < rowsPerPage) return;
    last = (rows.at(-1) as (typeof rows)[number]).seq;
  }
}

/** Along the index that has the users' events. */
async function eachByUser(
  db: Db,
  data: ProjectData,
  visit: (userId: string, itemId: string, value: number) => void,
): Promise<void> {
  let last: { readonly user_id: string; readonly seq: number } = { user_id: "", seq: 0 };
  for (;;) {
    const rows = await db
      .selectFrom("events")
      .select(["seq", "user_id", "item_id", "event_value"])
      .where("dataset", "=", data.events.number)
      .where("event_type", "=", data.targetEventType)
      .orderBy("user_id")
      .orderBy("seq")
      .where(({ eb, refTuple, tuple }) =>
        eb.and([
          eb("user_id", ">=", last.user_id),
          eb(refTuple("user_id", "seq"), ">", tuple(last.user_id, last.seq)),
        ]),
      )
      .limit(rowsPerPage)
      .execute();
    for (const row of rows) visit(row.user_id, row.item_id, weightOf(row.event_value));
    if (rows.length < rowsPerPage) return;
    last = rows.at(-1) as (typeof rows)[number];
  }
}

/** Visits the users or items of a dataset in the order of their ids. */
export async function eachRecord(
  db: Db,
  dataset: number,
  visit: (id: string, attributes: Attributes) => void,
): Promise<void> {
  let last = "";
  for (;;) {
    const rows = await db
      .selectFrom("records")
      .select(["record_id", "attributes"])
      .where("dataset", "=", dataset)
      .where("record_id", ">", last)
      .orderBy("record_id")
      .limit(rowsPerPage)
      .execute();
    for (const row of rows) visit(row.record_id, JSON.parse(row.attributes));
    if (rows.length < rowsPerPage) return;
    last = (rows.at(-1) as (typeof rows)[number]).record_id;
  }
}

/** The attributes of a dataset's records at the places of their ids. */
export async function attributeTable(
  db: Db,
  dataset: { number: number; attribute_schema: string | null },
  places: Places,
): Promise<AttributeTable> {
  const records: (Attributes | undefined)[] = [];
  await eachRecord(db, dataset.number, (id, attributes) => {
    records[places.of(id)] = attributes;
  });
  const schema =
    dataset.attribute_schema === null ? null : (JSON.parse(dataset.attribute_schema) as AttributeSchema);
  return { schema, records };
}
