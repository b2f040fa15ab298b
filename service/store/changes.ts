import type { JsonMap } from "../../contract";
import type { EventTable } from "./tables";

/** Columns of a written event that a deployment keeps in memory. */
export type WrittenEvent = EventChange & Pick<EventTable, "ts">;

/** Columns of a written or deleted event that a deployment keeps in memory. */
export type EventChange = Pick<EventTable, "seq" | "user_id" | "item_id" | "event_type" | "event_value">;

/**
 * Events that a transaction deleted or wrote in a dataset. `deletions` is the dataset's count of deletions afterwards,
 * or 0 if nothing was deleted.
 */
export interface EventsChange {
  readonly dataset: number;
  readonly deletions: number;
  readonly deleted: readonly EventChange[];
  readonly written: readonly WrittenEvent[];
}

/** Upserted items of a dataset. */
export interface ItemsChange {
  readonly dataset: number;
  readonly items: ReadonlyMap<string, { readonly attributes: JsonMap }>;
}

/** A deleted dataset. */
export interface Cleared {
  readonly dataset: number;
  readonly cleared: true;
}

/** A user who was forgotten in an event dataset. The dataset may be deleted already. */
export interface Forgotten {
  readonly eventDatasetId: string;
  readonly forgotten: string;
}

/** A write that affects deployments. */
export type Change = EventsChange | ItemsChange | Cleared | Forgotten;
