import { eventRecord, limits } from "../../contract";
import { removeResultsOf } from "../files/results";
import type { EventsChange } from "../store/changes";
import type { Db } from "../store/database";
import { countDeletion, insertEvents } from "../store/events";
import { datasetOf } from "../store/find";
import { forget } from "../store/forgotten";
import { countShards, freePlaces } from "../store/shards";
import { deleteEvents } from "../store/sweep";
import type { DatasetTable, EventTable } from "../store/tables";
import type { Call, Handlers } from "./handler";
import { logFailures, unstorable } from "./record";
import { failOverCeiling, outcomeOf, oversize, type Parted, part } from "./upsert";

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
    await deleteEvents(call, dataset, { userId }, (change) => call.serving.tell(change));
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
    await deleteEvents(call, dataset, { from: startTs, before: ts }, (change) => call.serving.tell(change));
    return { eventDatasetId, ts };
  },
};

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
