import { z } from "zod";
import { atMost, attributes, eventType, id, maybe, recordId, withTolerant } from "./field";
import { limits } from "./limits";
import { route } from "./route";

/** A user with the attributes that the service may learn from. */
export const userRecord = z.strictObject({
  userId: recordId,
  attributes: attributes.default({}).describe("Attribute name to value; an array means several categories."),
});

/** An item with the attributes that the service may learn from and return. */
export const itemRecord = z.strictObject({
  itemId: recordId,
  attributes: attributes.default({}).describe("Attribute name to value; an array means several categories."),
});

/** Bytes, for that is what an index of a database bounds; a character takes at most three per unit of its length. */
const eventId = withTolerant(
  id
    .max(limits.eventIdBytes)
    .refine(
      (text) => text.length * 3 <= limits.eventIdBytes || Buffer.byteLength(text) <= limits.eventIdBytes,
      `expected at most ${limits.eventIdBytes} bytes`,
    ),
  id,
);

/** One act of a user on an item. */
export const eventRecord = z.strictObject({
  eventId: eventId.describe("Unique id; built from user, item and time where the source has none."),
  userId: recordId,
  itemId: recordId,
  ts: atMost(z.int().min(0), limits.eventTs).describe("Time of the event in milliseconds."),
  eventType: eventType.describe("Kind of act; a project optimises one of them."),
  eventValue: withTolerant(z.number().min(-limits.eventValue).max(limits.eventValue), z.number())
    .default(1)
    .describe("Weight in training; the larger, the more it counts."),
  attributes: attributes
    .default({})
    .describe("Properties of the event; need not match the dataset's schema."),
});

/**
 * The id of an event whose source has none, of user, item and time as the specification recommends.
 * A colon inside an id is escaped: otherwise `a:b` on `c` and `a` on `b:c` would be one event.
 * A character grows to three bytes at most, so that two ids within their limit give one within its own.
 */
export function buildEventId(userId: string, itemId: string, ts: number): string {
  return `${escaped(userId)}:${escaped(itemId)}:${ts}`;
}

function escaped(part: string): string {
  return /[%:]/.test(part) ? part.replace(/[%:]/g, encodeURIComponent) : part;
}

/** Our own service says why a record failed; a service that does not leaves this out. */
const outcome = {
  succeedIds: z.array(z.string()),
  failedIds: z.array(z.string()),
  failures: maybe(z.array(z.object({ id: z.string().nullable(), index: z.int(), reason: z.string() }))),
};

const records = <T extends z.ZodType>(record: T) => z.array(record).max(limits.recordsPerUpsert);

export const upsertDatasetUsers = route({
  method: "POST",
  path: "/upsert-dataset-users",
  summary: "Inserts or updates users.",
  repeatable: true,
  request: z.strictObject({ userDatasetId: recordId, users: records(userRecord) }),
  reply: z.object({ userDatasetId: maybe(id), ...outcome }),
});

export const upsertDatasetItems = route({
  method: "POST",
  path: "/upsert-dataset-items",
  summary: "Inserts or updates items.",
  repeatable: true,
  request: z.strictObject({ itemDatasetId: recordId, items: records(itemRecord) }),
  reply: z.object({ itemDatasetId: maybe(id), ...outcome }),
});

export const upsertDatasetEvents = route({
  method: "POST",
  path: "/upsert-dataset-events",
  summary: "Inserts or updates events.",
  repeatable: true,
  request: z.strictObject({ eventDatasetId: recordId, events: records(eventRecord) }),
  reply: z.object({ eventDatasetId: maybe(id), ...outcome }),
});

export const deleteDatasetUserEvents = route({
  method: "DELETE",
  path: "/delete-dataset-user-events",
  summary: "Deletes all events of one user.",
  request: z.strictObject({ eventDatasetId: recordId, userId: recordId }),
  reply: z.object({ eventDatasetId: maybe(id), userId: maybe(id) }),
});

export const deleteDatasetUser = route({
  method: "DELETE",
  path: "/delete-dataset-user",
  summary:
    "Deletes the record of one user and removes the user from all models of the dataset's projects; beyond the specification.",
  extension: true,
  request: z.strictObject({ userDatasetId: recordId, userId: recordId }),
  reply: z.object({ userDatasetId: maybe(id), userId: maybe(id) }),
});

export const deleteDatasetEventsBeforeTs = route({
  method: "DELETE",
  path: "/delete-dataset-events-before-ts",
  summary: "Deletes the events from start_ts on and before ts.",
  request: z.strictObject({
    eventDatasetId: recordId,
    ts: z.int().min(0).describe("Milliseconds; events before it are deleted."),
    startTs: z.int().min(0).default(0).describe("Milliseconds; events before it are kept."),
  }),
  reply: z.object({ eventDatasetId: maybe(id), ts: maybe(z.int()) }),
});

export const countDatasetRecords = route({
  method: "GET",
  path: "/count-dataset-records",
  summary: "Counts the records of a dataset of any kind; beyond the specification.",
  extension: true,
  request: z.strictObject({ datasetId: recordId.describe("Id of the dataset.") }),
  reply: z.object({ datasetId: id, recordCount: z.int() }),
});
