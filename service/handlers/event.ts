import { CompiledQuery } from "kysely";
import { eventRecord, limits } from "../../contract";
import { removeResultsOf } from "../housekeeping";
import type { EventsChange } from "../serving/serving";
import type { Db } from "../store/database";
import { forget } from "../store/forgotten";
import { deleteEvents } from "../store/sweep";
import type { DatasetTable, EventTable } from "../store/tables";
import { datasetOf } from "./dataset";
import type { Call, Handlers } from "./handler";
import { logFailures, unstorable } from "./record";
import { countShards, failOverCeiling, freePlaces, outcomeOf, oversize, type Parted, part } from "./upsert";

/** What the memory of a deployment needs to know of an event that came or went. */
export type EventChange = Pick<EventTable, "seq" | "user_id" | "item_id" | "event_type" | "event_value">;

interface EventRecord {
  readonly eventId: string;
  readonly userId: string;
  readonly itemId: string;
  readonly ts: number;
  readonly eventType: string;
  readonly eventValue: number;
  readonly attributes: object;
}

/** The operations on the events of a dataset. */
export const eventHandlers: Handlers<
  "upsertDatasetEvents" | "deleteDatasetUserEvents" | "deleteDatasetEventsBeforeTs"
> = {
  upsertDatasetEvents: async ({ eventDatasetId, events }, call) => {
    const parted = part<EventRecord>(eventRecord, "event_id", events, refuse);
    let change: EventsChange | undefined;
    const outcome = await call.write(async (db) => {
      const dataset = await datasetOf(db, "event", eventDatasetId);
      change = await upsert(db, dataset, parted, call);
      return { eventDatasetId, ...outcomeOf(parted) };
    });
    if (change) call.serving.tell(change);
    logFailures(call, eventDatasetId, outcome.failures);
    return outcome;
  },

  deleteDatasetUserEvents: async ({ eventDatasetId, userId }, call) => {
    const dataset = await datasetOf(call.db, "event", eventDatasetId);
    await deleteEvents(call, dataset, { userId });
    // Recorded when the last event is gone, so that a model that still saw some counts as trained before.
    const reply = await call.write(async (db) => {
      const deletions = await countDeletion(db, dataset);
      await forget(db, { event_dataset_id: eventDatasetId, user_id: userId, deletions });
      return { eventDatasetId, userId };
    });
    call.serving.tell({ dataset: dataset.number, forgotten: userId });
    await removeResultsOf(call, dataset);
    return reply;
  },

  deleteDatasetEventsBeforeTs: async ({ eventDatasetId, ts, startTs }, call) => {
    const dataset = await datasetOf(call.db, "event", eventDatasetId);
    await deleteEvents(call, dataset, { from: startTs, before: ts });
    return { eventDatasetId, ts };
  },
};

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

/** The last `seq` in use. */
export async function lastSeqIn(db: Db): Promise<number> {
  const { last } = await db
    .selectFrom("events")
    .select((of) => of.fn.max<number | null>("seq").as("last"))
    .executeTakeFirstOrThrow();
  return last ?? 0;
}

function refuse(record: EventRecord, raw: unknown): string | undefined {
  const texts = [record.eventId, record.userId, record.itemId, record.eventType];
  return oversize("event", raw, limits.eventBytes) ?? unstorable(...texts);
}

async function upsert(
  db: Db,
  dataset: DatasetTable,
  parted: Parted<EventRecord>,
  call: Call,
): Promise<EventsChange> {
  const free = await freePlaces(db, dataset);
  if (parted.kept.size > free) {
    failOverCeiling(parted, dataset, free, await existingIds(db, dataset, [...parted.kept.keys()]));
  }
  const first = call.takeSeqs(parted.kept.size);
  const come = [...parted.kept.values()].map((event, at) => rowOf(event, dataset, first + at));
  const written = await insertEvents(db, come);
  if (written === come.length) {
    await countShards(db, dataset, parted.kept.keys(), 1);
    return { dataset: dataset.number, deletions: 0, gone: [], come };
  }
  // Some are known already: these are taken out and written anew, so that they too carry a new seq.
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
  await countShards(
    db,
    dataset,
    come.filter(({ seq }) => isNew.has(seq)).map((row) => row.event_id),
    1,
  );
  return { dataset: dataset.number, deletions: await countDeletion(db, dataset), gone, come };
}

async function existingIds(db: Db, dataset: DatasetTable, ids: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom("events")
    .select("event_id")
    .where("dataset", "=", dataset.number)
    .where("event_id", "in", ids)
    .execute();
  return new Set(rows.map((row) => row.event_id));
}

function rowOf(event: EventRecord, dataset: DatasetTable, seq: number): EventTable {
  return {
    seq,
    dataset: dataset.number,
    event_id: event.eventId,
    user_id: event.userId,
    item_id: event.itemId,
    ts: event.ts,
    event_type: event.eventType,
    event_value: event.eventValue,
    attributes: JSON.stringify(event.attributes),
  };
}

const rowsPerInsert = 100;
const inserts = new Map<number, CompiledQuery>();

/** Writes the rows whose ids are not there yet and tells how many these were. */
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
