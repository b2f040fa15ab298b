import type { Context } from "../../handlers/handler";
import type { Db } from "../../store/database";
import type { Dataset } from "../../store/tables";
import type { EventRow, Page, RecordAnswer, Suggestion } from "../answers";
import { isOver } from "../rows";
import { existing } from "./dataset";
import { eventOf, eventsOf } from "./events";

const [rowsPerPage, rowsPerStep] = [50, 200];
/** How long a page is searched for; whoever wants more asks for the next one. */
const searchMs = 800;

/**
 * The records of a dataset after one, in the order of their ids; with a text those that hold it. A page may be short, or
 * empty, though more are to come: so much was looked through.
 */
export async function recordsPage(
  { store: { db } }: Context,
  { id, search = "", after = "" }: { id: string; search?: string | undefined; after?: string | undefined },
  signal: AbortSignal,
): Promise<Page<Suggestion | EventRow>> {
  const dataset = await existing(db, id);
  const wanted = search.toLowerCase();
  const read = dataset.kind === "event" ? eventsAfter : recordsAfter;
  const most = wanted === "" ? rowsPerPage + 1 : rowsPerStep;
  const rows: (Suggestion | EventRow)[] = [];
  const until = performance.now() + searchMs;
  for (let last = after; ; ) {
    const step = await read(db, dataset, last, most);
    for (const { key, text, row } of step) {
      if (rows.length === rowsPerPage) return { rows, next: last };
      if (text.toLowerCase().includes(wanted)) rows.push(row());
      last = key;
    }
    if (step.length < most) return { rows, next: null };
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
    // Quotes and line ends stand in it as JSON writes them: good enough to find something by.
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
    row: () => eventOf(row),
  }));
}

/** A user or an item with its newest events; also one that only events know. */
export async function recordAnswer(
  { store: { db } }: Context,
  datasetId: string,
  kind: "user" | "item",
  id: string,
  signal: AbortSignal,
): Promise<RecordAnswer> {
  const dataset = await existing(db, datasetId);
  const own = dataset.kind === kind ? dataset : await companion(db, dataset, kind);
  const row = own
    ? await db
        .selectFrom("records")
        .select("attributes")
        .where("dataset", "=", own.number)
        .where("record_id", "=", id)
        .executeTakeFirst()
    : undefined;
  const events = dataset.kind === "event" ? dataset : await companion(db, dataset, "event");
  const found = events ? await eventsOf(db, events, kind, id, signal) : { rows: [], isMore: false };
  return {
    id,
    attributes: row ? JSON.parse(row.attributes) : null,
    events: found.rows,
    isMore: found.isMore,
  };
}

/** The dataset of another kind that the newest project joins to one. */
async function companion(
  db: Db,
  { id }: Dataset,
  kind: "user" | "item" | "event",
): Promise<Dataset | undefined> {
  const project = await db
    .selectFrom("projects")
    .selectAll()
    .where((of) => isOver(of, id))
    .orderBy("created_ts", "desc")
    .executeTakeFirst();
  if (!project) return undefined;
  return db
    .selectFrom("datasets")
    .selectAll()
    .where("id", "=", project[`${kind}_dataset_id`])
    .where("kind", "=", kind)
    .executeTakeFirst();
}
