import { limits } from "../../contract";
import type { AttributeSchema, Attributes, AttributeTable } from "../algorithms";
import type { Places } from "../base/places";
import { type Db, unindexed } from "./database";
import type { ProjectData } from "./project-data";

const rowsPerPage = 10_000;

/** Carries out the reading against one unchanging state of the database, whatever is written meanwhile. */
export function snapshot<T>(db: Db, read: (db: Db) => Promise<T>): Promise<T> {
  return db.transaction().execute(read);
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

/** Visits the target events of a project in the order in which they were written. */
export async function eachTargetEvent(
  db: Db,
  data: ProjectData,
  visit: (userId: string, itemId: string, value: number) => void,
): Promise<void> {
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
