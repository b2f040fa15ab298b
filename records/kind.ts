import type { z } from "zod";
import { acceptedAt } from "../client/settings";
import { eventRecord, itemRecord, limits, routes, userRecord, wireName } from "../contract";

/** Kind of record, with the rules to validate and upsert it. */
export interface RecordKind {
  readonly type: "user" | "item" | "event";
  readonly route:
    | typeof routes.upsertDatasetUsers
    | typeof routes.upsertDatasetItems
    | typeof routes.upsertDatasetEvents;
  /** Names of the fields in programs, in the order of the contract. */
  readonly fields: readonly string[];
  /**
   * Fields that every record must have. The id of an event is not required, because it can be built from other fields.
   */
  readonly required: readonly string[];
  /** Name of the id field in the API. */
  readonly idKey: string;
  /** Schema of a record. */
  readonly record: z.ZodObject;
  /** Maximum size of a record as JSON. */
  readonly maxBytes: number;
  /** Text of a request before and after its records. */
  readonly envelope: (datasetId: string) => { readonly before: string; readonly after: string };
}

/** The three kinds of record. */
export const recordKinds = {
  users: recordKind("user", routes.upsertDatasetUsers, userRecord),
  items: recordKind("item", routes.upsertDatasetItems, itemRecord),
  events: recordKind("event", routes.upsertDatasetEvents, eventRecord),
} as const;

/** Name of a kind of record on the command line. */
export type RecordKindName = keyof typeof recordKinds;

/**
 * Returns a kind of record with the limits of the service at an address. The API specifies a size limit only for
 * events, so other services may accept larger users and items.
 */
export function recordKindAt(baseUrl: string, kind: RecordKind): RecordKind {
  const record = acceptedAt(baseUrl, kind.record);
  if (record === kind.record) return kind;
  return { ...kind, record, maxBytes: kind.type === "event" ? kind.maxBytes : Number.POSITIVE_INFINITY };
}

function recordKind(type: RecordKind["type"], route: RecordKind["route"], record: z.ZodObject): RecordKind {
  return {
    type,
    route,
    fields: Object.keys(record.shape),
    required: Object.entries(record.shape as Record<string, z.ZodType>)
      .filter(([field, schema]) => field !== "eventId" && !schema.safeParse(undefined).success)
      .map(([field]) => field),
    idKey: wireName(`${type}Id`),
    record,
    maxBytes: type === "event" ? limits.eventBytes : limits.recordBytes,
    envelope: (datasetId) => ({
      before: `{"${wireName(`${type}DatasetId`)}":${JSON.stringify(datasetId)},"${type}s":[`,
      after: "]}",
    }),
  };
}
