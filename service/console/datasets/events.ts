import { dayMs } from "../../base/clock";
import type { Db } from "../../store/database";
import { newestEvents, newestEventsOf } from "../../store/newest-events";
import type { Dataset, EventTable } from "../../store/tables";

/** Maximum number of events that the charts are based on. Reading more would delay the page. */
const maxSampled = 20_000;
const maxShown = 50;
const maxDays = 60;

/** Summarizes the newest events of a dataset for charts. */
export async function summarizeEvents(db: Db, dataset: Dataset, now: number) {
  const [users, items, types] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ];
  const days = new Map<number, Map<string, number>>();
  let sampled = 0;
  const more = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for await (const rows of newestEvents(db, dataset, maxSampled * 4)) {
    for (const { user_id, item_id, event_type, ts } of rows.slice(0, maxSampled - sampled)) {
      more(users, user_id);
      more(items, item_id);
      more(types, event_type);
      const day = Math.floor(ts / dayMs);
      const ofDay = days.get(day) ?? new Map<string, number>();
      more(ofDay, event_type);
      days.set(day, ofDay);
    }
    sampled = Math.min(maxSampled, sampled + rows.length);
    if (sampled >= maxSampled) break;
  }
  const shownTypes = byCount(types)
    .slice(0, 6)
    .map(({ id }) => id);
  // Timestamps in the future would push all other days off the chart, and may not be valid dates.
  const tomorrow = Math.floor(now / dayMs) + 1;
  const last = [...days.keys()].filter((day) => day <= tomorrow).reduce((a, b) => Math.max(a, b), -1);
  const first = Math.max(
    last - maxDays + 1,
    [...days.keys()].reduce((a, b) => Math.min(a, b), last),
  );
  const popular = byCount(items);
  return {
    /** Number of events that the figures are based on. They are the newest events of the dataset. */
    sampled,
    types: shownTypes,
    days:
      last < 0
        ? []
        : Array.from({ length: last - first + 1 }, (_, at) => ({
            day: new Date((first + at) * dayMs).toISOString().slice(0, 10),
            counts: shownTypes.map((type) => days.get(first + at)?.get(type) ?? 0),
          })),
    users: byCount(users).slice(0, 10),
    items: popular.slice(0, 10),
    distinctUsers: users.size,
    distinctItems: items.size,
    /** Number of events per item, in descending order. Reduced to at most 120 values for the chart. */
    tail: downsample(popular.map(({ count }) => count)),
  };
}

function byCount(counts: ReadonlyMap<string, number>) {
  return [...counts]
    .map(([id, count]) => ({ id, count }))
    .sort((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1));
}

function downsample(counts: readonly number[], most = 120): number[] {
  const step = Math.max(1, counts.length / most);
  return Array.from(
    { length: Math.min(most, counts.length) },
    (_, at) => counts[Math.floor(at * step)] as number,
  );
}

/** Returns the newest events of a user or an item. */
export async function eventsOf(
  db: Db,
  dataset: Dataset,
  kind: "user" | "item",
  id: string,
  signal: AbortSignal,
) {
  const found: EventRow[] = [];
  for await (const rows of newestEventsOf(db, dataset, kind, id, maxShown + 1)) {
    found.push(...rows.map(eventRow));
    if (found.length > maxShown || signal.aborted) break;
  }
  return { rows: found.slice(0, maxShown), isMore: found.length > maxShown };
}

/** Converts a row of the events table for the page. */
export function eventRow(
  row: Pick<EventTable, "event_id" | "user_id" | "item_id" | "ts" | "event_type" | "event_value">,
) {
  return {
    eventId: row.event_id,
    userId: row.user_id,
    itemId: row.item_id,
    ts: row.ts,
    eventType: row.event_type,
    eventValue: row.event_value,
  };
}

/** An event as the page shows it. */
export type EventRow = ReturnType<typeof eventRow>;
