import { eventRecord, limits } from "../../contract";
import { uploadHeader } from "../../contract/upload";
import type { EventsChange } from "../store/changes";
import type { Db } from "../store/database";
import { type NewEvent, writeEvents } from "../store/events";
import { datasetOf } from "../store/find";
import { noteUpload } from "../store/last-uploads";
import { countShards, freeCapacity } from "../store/shards";
import { pruneEvents } from "../store/sweep";
import type { Dataset } from "../store/tables";
import type { Call, Handlers } from "./handler";
import { tellFailures, unstorable } from "./record";
import { outcomeOf, oversize, type Parted, part, withinCeiling } from "./upsert";

interface EventRecord {
  readonly eventId: string;
  readonly userId: string;
  readonly itemId: string;
  readonly ts: number;
  readonly eventType: string;
  readonly eventValue: number;
  readonly attributes: object;
}

/** Operations on the events of a dataset. */
export const eventHandlers: Handlers<"upsertDatasetEvents" | "deleteDatasetEventsBeforeTs"> = {
  upsertDatasetEvents: async ({ eventDatasetId, events }, call) => {
    const parted = await part<EventRecord>(eventRecord, "event_id", events, refuse);
    const { fitting, change, dataset } = await call.store.concurrently(async (db) => {
      const dataset = await datasetOf(db, "event", eventDatasetId);
      const upserted = await upsert(db, dataset, parted, call);
      await noteUpload(db, dataset, call.headers[uploadHeader]);
      return { dataset, ...upserted };
    });
    if (change) call.serving.publish(change);
    const outcome = { eventDatasetId, ...outcomeOf(fitting) };
    await tellFailures(call, dataset, outcome.failures);
    return outcome;
  },

  deleteDatasetEventsBeforeTs: async ({ eventDatasetId, ts, startTs }, call) => {
    const dataset = await datasetOf(call.db, "event", eventDatasetId);
    const span = { from: startTs, before: ts };
    await pruneEvents(call, dataset, span, (change) => call.serving.publish(change));
    return { eventDatasetId, ts };
  },
};

function refuse(record: EventRecord, raw: unknown): string | undefined {
  const texts = [record.eventId, record.userId, record.itemId, record.eventType];
  return oversize("event", raw, limits.eventBytes) ?? unstorable(...texts);
}

async function upsert(
  db: Db,
  dataset: Dataset,
  parted: Parted<EventRecord>,
  { takeSeqs }: Call,
): Promise<{ fitting: Parted<EventRecord>; change: EventsChange | undefined }> {
  const free = await freeCapacity(db, dataset);
  const ids = [...parted.kept.keys()];
  const fitting =
    ids.length > free ? withinCeiling(parted, dataset, free, await existingIds(db, dataset, ids)) : parted;
  if (fitting.kept.size === 0) return { fitting, change: undefined };
  const events = [...fitting.kept.values()].map((event) => rowOf(event, dataset));
  const { fresh, change } = await writeEvents(db, dataset, events, takeSeqs);
  await countShards(db, dataset, fresh, 1);
  return { fitting, change };
}

async function existingIds(db: Db, dataset: Dataset, ids: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom("events")
    .select("event_id")
    .where("dataset", "=", dataset.number)
    .where("event_id", "in", ids)
    .execute();
  return new Set(rows.map((row) => row.event_id));
}

function rowOf(event: EventRecord, dataset: Dataset): NewEvent {
  return {
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
