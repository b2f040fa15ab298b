import type { z } from "zod";
import { acceptedAt } from "../client/settings";
import { eventRecord, itemRecord, limits, routes, userRecord, wireName } from "../contract";

/** A kind of record: how it is checked and by which call it is upserted. */
export interface RecordKind {
  readonly type: "user" | "item" | "event";
  readonly route:
    | typeof routes.upsertDatasetUsers
    | typeof routes.upsertDatasetItems
    | typeof routes.upsertDatasetEvents;
  /** Its fields as programs name them, in the order of the contract. */
  readonly fields: readonly string[];
  /** Those that every record of a source must have; the id of an event is built where there is none. */
  readonly required: readonly string[];
  /** The field that identifies records, on the wire. */
  readonly idKey: string;
  /** What a record holds. */
  readonly record: z.ZodObject;
  /** Bytes of a record as JSON at most. */
  readonly mostBytes: number;
  /** The text of a request around its records. */
  readonly envelope: (datasetId: string) => { readonly before: string; readonly after: string };
}

/** The three kinds of record. */
export const recordKinds = {
  users: recordKind("user", routes.upsertDatasetUsers, userRecord),
  items: recordKind("item", routes.upsertDatasetItems, itemRecord),
  events: recordKind("event", routes.upsertDatasetEvents, eventRecord),
} as const;

/** The name of a kind of record, as the command line says it. */
export type RecordKindName = keyof typeof recordKinds;

/** A kind of record as the service of a configuration accepts it; the size of an event is the specification's. */
export function recordKindAt(baseUrl: string, kind: RecordKind): RecordKind {
  const record = acceptedAt(baseUrl, kind.record);
  if (record === kind.record) return kind;
  return { ...kind, record, mostBytes: kind.type === "event" ? kind.mostBytes : Number.POSITIVE_INFINITY };
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
    mostBytes: type === "event" ? limits.eventBytes : limits.recordBytes,
    envelope: (datasetId) => ({
      before: `{"${wireName(`${type}DatasetId`)}":${JSON.stringify(datasetId)},"${type}s":[`,
      after: "]}",
    }),
  };
}
