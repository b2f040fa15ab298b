import type { Context } from "../../handlers/handler";
import type { Db } from "../../store/database";
import { anyDatasetOf, findDataset } from "../../store/find";
import type { Dataset } from "../../store/tables";
import { type Page, usesDataset } from "../rows";
import type { Suggestion } from "../try";
import { type EventRow, eventRow, eventsOf } from "./events";

const rowsPerPage = 50;
const rowsPerStep = 200;
/** Time limit of a search, after which the page offers to continue. */
const searchMs = 800;

/**
 * Returns the records after an id, in the order of their ids. With `search`, returns only records that contain the
 * text. A page may be short or empty even if more records follow, because a search has a time limit.
 */
export async function recordsPage(
  { store: { db } }: Context,
  { id, search = "", after = "" }: { id: string; search?: string | undefined; after?: string | undefined },
  signal: AbortSignal,
): Promise<Page<Suggestion | EventRow>> {
  const dataset = await anyDatasetOf(db, id);
  const wanted = search.toLowerCase();
  const read = dataset.kind === "event" ? eventsAfter : recordsAfter;
  const stepRows = wanted === "" ? rowsPerPage + 1 : rowsPerStep;
  const rows: (Suggestion | EventRow)[] = [];
  const until = performance.now() + searchMs;
  for (let last = after; ; ) {
    const step = await read(db, dataset, last, stepRows);
    for (const { key, text, row } of step) {
      if (rows.length === rowsPerPage) return { rows, next: last };
      if (text.toLowerCase().includes(wanted)) rows.push(row());
      last = key;
    }
    if (step.length < stepRows) return { rows, next: null };
    if (signal.aborted || performance.now() > until) return { rows, next: last };
    await new Promise(setImmediate);
  }
}

async function recordsAfter(db: Db, { number }: Dataset, after: string, limit: number) {
  const rows = await db
    .selectFrom("records")
    .select(["record_id", "attributes"])
    .where("dataset", "=", number)
    .where("record_id", ">", after)
    .orderBy("record_id")
    .limit(limit)
    .execute();
  return rows.map(({ record_id, attributes }) => ({
    key: record_id,
    // Searches the attributes as JSON. Texts with quotes or line breaks are not found, because JSON escapes them.
    text: `${record_id} ${attributes}`,
    row: (): Suggestion => ({ id: record_id, attributes: JSON.parse(attributes) }),
  }));
}

async function eventsAfter(db: Db, { number }: Dataset, after: string, limit: number) {
  const rows = await db
    .selectFrom("events")
    .select(["event_id", "user_id", "item_id", "ts", "event_type", "event_value"])
    .where("dataset", "=", number)
    .where("event_id", ">", after)
    .orderBy("event_id")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    key: row.event_id,
    text: `${row.event_id} ${row.user_id} ${row.item_id} ${row.event_type}`,
    row: () => eventRow(row),
  }));
}

/** Returns the record of a user or an item, and its newest events. There may be events but no record. */
export async function recordResponse(
  { store: { db } }: Context,
  datasetId: string,
  kind: "user" | "item",
  id: string,
  signal: AbortSignal,
) {
  const dataset = await anyDatasetOf(db, datasetId);
  const own = dataset.kind === kind ? dataset : await relatedDataset(db, dataset, kind);
  const row = own
    ? await db
        .selectFrom("records")
        .select("attributes")
        .where("dataset", "=", own.number)
        .where("record_id", "=", id)
        .executeTakeFirst()
    : undefined;
  const events = dataset.kind === "event" ? dataset : await relatedDataset(db, dataset, "event");
  const found = events ? await eventsOf(db, events, kind, id, signal) : { rows: [], isMore: false };
  return {
    id,
    attributes: JSON.parse(row?.attributes ?? "null") as Suggestion["attributes"] | null,
    events: found.rows,
    /** Whether older events were left out. */
    isMore: found.isMore,
  };
}

/** Finds the dataset of a kind in the newest project that uses the given dataset. */
async function relatedDataset(
  db: Db,
  { id }: Dataset,
  kind: "user" | "item" | "event",
): Promise<Dataset | undefined> {
  const project = await db
    .selectFrom("projects")
    .selectAll()
    .where((of) => usesDataset(of, id))
    .orderBy("created_ts", "desc")
    .executeTakeFirst();
  return project && findDataset(db, kind, project[`${kind}_dataset_id`]);
}
