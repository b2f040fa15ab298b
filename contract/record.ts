import { z } from "zod";
import { atMost, attributes, eventType, id, maybe, recordId, withTolerant } from "./field";
import { limits } from "./limits";
import { route } from "./route";
import { uploadHeaders } from "./upload";

/** A user. The service can learn from the attributes. */
export const userRecord = z.strictObject({
  userId: recordId,
  attributes: attributes.default({}).describe("Attribute values by name. An array means several categories."),
});

/** An item. The service can learn from the attributes and return them. */
export const itemRecord = z.strictObject({
  itemId: recordId,
  attributes: attributes.default({}).describe("Attribute values by name. An array means several categories."),
});

/** Limited in bytes, because database indexes limit bytes. A UTF-16 code unit takes at most three bytes in UTF-8. */
const eventId = withTolerant(
  id
    .max(limits.eventIdBytes)
    .refine(
      (text) => text.length * 3 <= limits.eventIdBytes || Buffer.byteLength(text) <= limits.eventIdBytes,
      `expected at most ${limits.eventIdBytes} bytes`,
    ),
  id,
);

/** An interaction of a user with an item. */
export const eventRecord = z.strictObject({
  eventId: eventId.describe("Unique id. If a source has none, it is built from user, item and time."),
  userId: recordId,
  itemId: recordId,
  ts: atMost(z.int().min(0), limits.eventTs).describe("Time of the event in milliseconds."),
  eventType: eventType.describe("Type of the event. A project optimizes for one type."),
  eventValue: withTolerant(z.number().min(-limits.eventValue).max(limits.eventValue), z.number())
    .default(1)
    .describe("Weight in training. Larger values count more."),
  attributes: attributes
    .default({})
    .describe("Properties of the event. They need not match the schema of the dataset."),
});

/**
 * Builds an event id from user, item and time, as the specification recommends for sources without event ids.
 * Colons are escaped, because otherwise user `a:b` with item `c` and user `a` with item `b:c` would get the same id.
 * Each character takes at most three bytes, so ids within their limits result in an event id within its limit.
 */
export function buildEventId(userId: string, itemId: string, ts: number): string {
  return `${escaped(userId)}:${escaped(itemId)}:${ts}`;
}

function escaped(part: string): string {
  return /[%:]/.test(part) ? part.replace(/[%:]/g, encodeURIComponent) : part;
}

/** Result of an upsert. Only the service in this package returns `failures`, with the reasons. */
const upsertResult = {
  succeedIds: z.array(z.string()),
  failedIds: z.array(z.string()),
  failures: maybe(z.array(z.object({ id: z.string().nullable(), index: z.int(), reason: z.string() }))),
};

const records = <T extends z.ZodType>(record: T) => z.array(record).max(limits.recordsPerUpsert);

export const upsertDatasetUsers = route({
  method: "POST",
  path: "/upsert-dataset-users",
  headers: uploadHeaders,
  summary: "Inserts or replaces users.",
  repeatable: true,
  request: z.strictObject({ userDatasetId: recordId, users: records(userRecord) }),
  reply: z.object({ userDatasetId: maybe(id), ...upsertResult }),
});

export const upsertDatasetItems = route({
  method: "POST",
  path: "/upsert-dataset-items",
  headers: uploadHeaders,
  summary: "Inserts or replaces items.",
  repeatable: true,
  request: z.strictObject({ itemDatasetId: recordId, items: records(itemRecord) }),
  reply: z.object({ itemDatasetId: maybe(id), ...upsertResult }),
});

export const upsertDatasetEvents = route({
  method: "POST",
  path: "/upsert-dataset-events",
  headers: uploadHeaders,
  summary: "Inserts or replaces events.",
  repeatable: true,
  request: z.strictObject({ eventDatasetId: recordId, events: records(eventRecord) }),
  reply: z.object({ eventDatasetId: maybe(id), ...upsertResult }),
});

export const deleteDatasetUserEvents = route({
  method: "DELETE",
  path: "/delete-dataset-user-events",
  summary: "Deletes all events of one user.",
  request: z.strictObject({ eventDatasetId: recordId, userId: recordId }),
  reply: z.object({ eventDatasetId: id, userId: maybe(id) }),
});

export const deleteDatasetUser = route({
  method: "DELETE",
  path: "/delete-dataset-user",
  summary:
    "Deletes a user record and removes the user from all models of the dataset's projects (extension).",
  extension: true,
  request: z.strictObject({ userDatasetId: recordId, userId: recordId }),
  reply: z.object({ userDatasetId: id, userId: maybe(id) }),
});

export const deleteDatasetEventsBeforeTs = route({
  method: "DELETE",
  path: "/delete-dataset-events-before-ts",
  summary: "Deletes the events from start_ts (inclusive) to ts (exclusive).",
  request: z.strictObject({
    eventDatasetId: recordId,
    ts: z.int().min(0).describe("Deletes events before this time, in milliseconds."),
    startTs: z.int().min(0).default(0).describe("Keeps events before this time, in milliseconds."),
  }),
  reply: z.object({ eventDatasetId: id, ts: maybe(z.int()) }),
});

export const countDatasetRecords = route({
  method: "GET",
  path: "/count-dataset-records",
  summary: "Counts the records of a dataset of any type (extension).",
  extension: true,
  request: z.strictObject({ datasetId: recordId.describe("Id of the dataset.") }),
  reply: z.object({
    datasetId: id,
    recordCount: z.int(),
    lastUploads: maybe(
      z.array(z.string()).describe("Last upload of each source that announces its uploads, as BASIS/TOKEN."),
    ),
  }),
});
