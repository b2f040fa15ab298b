import type { JsonMap } from "../../contract";
import type { EventTable } from "./tables";

/** What the memory of a deployment needs to know of an event that came or went. */
export type EventChange = Pick<EventTable, "seq" | "user_id" | "item_id" | "event_type" | "event_value">;

/** Events of a dataset that went and came in one stroke; `deletions` counts the strokes in which some went. */
export interface EventsChange {
  readonly dataset: number;
  readonly deletions: number;
  readonly gone: readonly EventChange[];
  readonly come: readonly EventChange[];
}

/** Items of a dataset that were upserted. */
export interface ItemsChange {
  readonly dataset: number;
  readonly items: ReadonlyMap<string, { readonly attributes: JsonMap }>;
}

/** A dataset that was deleted. */
export interface Cleared {
  readonly dataset: number;
  readonly cleared: true;
}

/** A user who was forgotten in an event dataset, which may itself be deleted by then. */
export interface Forgotten {
  readonly eventDatasetId: string;
  readonly forgotten: string;
}

/** A write that deployments take note of. */
export type Change = EventsChange | ItemsChange | Cleared | Forgotten;
