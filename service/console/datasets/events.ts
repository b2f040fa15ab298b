import { dayMs } from "../../base/clock";
import { type Db, isPostgres, unindexed } from "../../store/database";
import { lastSeqIn } from "../../store/events";
import { hasEventsBySeq } from "../../store/indexes";
import type { Dataset, EventTable } from "../../store/tables";
import type { EventRow, EventsAnswer } from "../answers";

/** Events that charts are made of: more would take longer than a page may wait. */
const mostSampled = 20_000;
/** Places of the table that are looked through for the events of one user or item, where there is no index. */
const mostSearched = 400_000;
const seqsPerStep = 5000;
/** More in PostgreSQL, where a step is a call over the network. */
const seqsPerSharedStep = 20_000;
const mostShown = 50;
const daysShown = 60;

const columns = ["seq", "event_id", "user_id", "item_id", "ts", "event_type", "event_value"] as const;

/** The newest events of a dataset, step by step, so that calls get their turn in between. */
async function* newest(
  db: Db,
  dataset: Dataset,
  most: number,
  of?: { readonly column: "user_id" | "item_id"; readonly id: string },
) {
  const isShared = isPostgres(db);
  if (isShared && !(await hasEventsBySeq(db))) return;
  let end = await lastSeqIn(db);
  for (const begin = end - most; end > Math.max(0, begin); ) {
    const step = isShared ? Math.min(most, seqsPerSharedStep) : seqsPerStep;
    let query = db
      .selectFrom("events")
      .select(columns)
      .where("seq", "<=", end)
      .where("seq", ">", end - step)
      .where(isShared ? "dataset" : unindexed("dataset"), "=", dataset.number)
      .orderBy("seq", "desc");
    if (of) query = query.where(of.column, "=", of.id);
    const rows = await query.limit(mostSampled).execute();
    yield rows;
    end -= step;
    await new Promise(setImmediate);
  }
}

/** What the newest events of a dataset show. */
export async function eventsAnswer(db: Db, dataset: Dataset, now: number): Promise<EventsAnswer> {
  const [users, items, types] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ];
  const days = new Map<number, Map<string, number>>();
  let sampled = 0;
  const more = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for await (const rows of newest(db, dataset, mostSampled * 4)) {
    for (const { user_id, item_id, event_type, ts } of rows.slice(0, mostSampled - sampled)) {
      more(users, user_id);
      more(items, item_id);
      more(types, event_type);
      const day = Math.floor(ts / dayMs);
      const ofDay = days.get(day) ?? new Map<string, number>();
      more(ofDay, event_type);
      days.set(day, ofDay);
    }
    sampled = Math.min(mostSampled, sampled + rows.length);
    if (sampled >= mostSampled) break;
  }
  const shownTypes = ordered(types)
    .slice(0, 6)
    .map(({ id }) => id);
  // What is said to come later would push all other days off the chart, and may be no day at all.
  const tomorrow = Math.floor(now / dayMs) + 1;
  const last = [...days.keys()].filter((day) => day <= tomorrow).reduce((a, b) => Math.max(a, b), -1);
  const first = Math.max(
    last - daysShown + 1,
    [...days.keys()].reduce((a, b) => Math.min(a, b), last),
  );
  const popular = ordered(items);
  return {
    sampled,
    types: shownTypes,
    days:
      last < 0
        ? []
        : Array.from({ length: last - first + 1 }, (_, at) => ({
            day: new Date((first + at) * dayMs).toISOString().slice(0, 10),
            counts: shownTypes.map((type) => days.get(first + at)?.get(type) ?? 0),
          })),
    users: ordered(users).slice(0, 10),
    items: popular.slice(0, 10),
    distinctUsers: users.size,
    distinctItems: items.size,
    tail: thinned(popular.map(({ count }) => count)),
  };
}

function ordered(counts: ReadonlyMap<string, number>) {
  return [...counts]
    .map(([id, count]) => ({ id, count }))
    .sort((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1));
}

function thinned(counts: readonly number[], most = 120): number[] {
  const step = Math.max(1, counts.length / most);
  return Array.from(
    { length: Math.min(most, counts.length) },
    (_, at) => counts[Math.floor(at * step)] as number,
  );
}

/** The newest events of a user or an item. */
export async function eventsOf(
  db: Db,
  dataset: Dataset,
  kind: "user" | "item",
  id: string,
  signal: AbortSignal,
): Promise<{ rows: EventRow[]; isMore: boolean }> {
  const found: EventRow[] = [];
  const column = kind === "user" ? "user_id" : "item_id";
  for await (const rows of isPostgres(db) && kind === "user"
    ? ofUser(db, dataset, id)
    : newest(db, dataset, mostSearched, { column, id })) {
    found.push(...rows.map(eventOf));
    if (found.length > mostShown || signal.aborted) break;
  }
  return { rows: found.slice(0, mostShown), isMore: found.length > mostShown };
}

/** An event as the page gets it. */
export function eventOf(
  row: Pick<EventTable, "event_id" | "user_id" | "item_id" | "ts" | "event_type" | "event_value">,
): EventRow {
  return {
    eventId: row.event_id,
    userId: row.user_id,
    itemId: row.item_id,
    ts: row.ts,
    eventType: row.event_type,
    eventValue: row.event_value,
  };
}

/** The newest events of a user in PostgreSQL: found in the index of users, then read by their keys. */
async function* ofUser(db: Db, { number }: Dataset, userId: string) {
  if (!(await hasEventsBySeq(db))) return;
  const newest = db
    .selectFrom("events")
    .select("seq")
    .where("dataset", "=", number)
    .where("user_id", "=", userId)
    .orderBy("seq", "desc")
    .limit(mostShown + 1);
  const seqs = (await newest.execute()).map(({ seq }) => seq);
  if (seqs.length === 0) return;
  yield await db
    .selectFrom("events")
    .select(columns)
    .where("dataset", "=", number)
    .where("seq", "in", seqs)
    .orderBy("seq", "desc")
    .execute();
}
