import { sql } from "kysely";
import { ServiceError } from "../base/error";
import type { EventsChange } from "./changes";
import { datasetColumn, type Store } from "./database";
import { countDeletion, lastSeqIn } from "./events";
import { countShards } from "./shards";
import type { Dataset } from "./tables";
import type { Walks } from "./walks";

/** Context of a walk over events. */
interface Walking {
  readonly store: Store;
  /** Signal that ends the walk after the current step. */
  readonly closing: AbortSignal;
  lastSeq(): number;
}

/** Context of a call that deletes events. */
interface Deleting extends Walking {
  readonly walks: Walks<number>;
  /** Returns a signal that is aborted when the caller disconnects. */
  leaving(): AbortSignal;
}

/** Selects the events of a dataset to delete. */
interface DeletionFilter {
  readonly userId?: string;
  /** First time of the span. */
  readonly from?: number;
  /** First time after the span. */
  readonly before?: number;
  /** Only events with a larger `seq`. PostgreSQL deletes along another index and ignores this. */
  readonly after?: number;
}

/** Called with each deletion in an embedded database, to update the live deployments. */
type Notify = (change: EventsChange) => void;

const seqsPerStep = 20_000;
const rowsPerStep = 1000;

/** Deletes the events of a dataset whose time is in a span. */
export async function pruneEvents(
  deleting: Deleting,
  dataset: Dataset,
  span: { readonly from: number; readonly before: number },
  notify: Notify,
): Promise<void> {
  await walkOnce(deleting, dataset, span, notify);
}

/** Deletes all events of a user that were written before the call. */
export async function deleteUserEvents(
  deleting: Deleting,
  dataset: Dataset,
  userId: string,
  notify: Notify,
): Promise<void> {
  const end = await lastSeqOf(deleting);
  // The first walk may belong to an earlier call and have begun before the last of these events was written. So walk
  // again until all are covered.
  for (let after = 0; after < end; ) after = await walkOnce(deleting, dataset, { userId, after }, notify);
}

/**
 * Deletes events, or waits for a running deletion of the same events. Returns the largest `seq` that the deletion
 * covers.
 */
function walkOnce(
  deleting: Deleting,
  dataset: Dataset,
  filter: DeletionFilter,
  notify: Notify,
): Promise<number> {
  const { store, closing, lastSeq, walks } = deleting;
  // PostgreSQL has an index on users. So a deletion for one user need not wait for a walk over the whole dataset.
  const isOfUser = store.isShared && filter.userId !== undefined;
  const lane = JSON.stringify([dataset.number, ...(isOfUser ? [filter.userId] : [])]);
  return walks.join(lane, JSON.stringify(filter), deleting.leaving(), (stop) => {
    const walking = { store, lastSeq, closing: AbortSignal.any([closing, stop]) };
    return deleteEvents(walking, dataset, filter, notify);
  });
}

function lastSeqOf({ store, lastSeq }: Walking): Promise<number> {
  return store.isShared ? lastSeqIn(store.db) : Promise.resolve(lastSeq());
}

/** Deletes events in steps, each in one transaction. Events that are written meanwhile are kept. */
async function deleteEvents(
  walking: Walking,
  dataset: Dataset,
  filter: DeletionFilter,
  notify: Notify,
): Promise<number> {
  const end = await lastSeqOf(walking);
  if (walking.store.isShared) await deleteAlongIndex(walking, dataset, filter, end);
  else await deleteAlongSeq(walking, dataset, filter, end, notify);
  return end;
}

/** Deletes events of an embedded database in the order of their `seq`, because it has no index on users or times. */
async function deleteAlongSeq(
  { store, closing }: Walking,
  dataset: Dataset,
  filter: DeletionFilter,
  end: number,
  notify: Notify,
): Promise<void> {
  let from = filter.after ?? 0;
  while (from < end) {
    throwIfClosing(closing);
    const to = Math.min(from + seqsPerStep, end);
    let events = store.db
      .selectFrom("events")
      .select("seq")
      .where(datasetColumn(store.db), "=", dataset.number)
      .where("seq", ">", from)
      .where("seq", "<=", to)
      .orderBy("seq")
      .limit(rowsPerStep);
    if (filter.userId !== undefined) events = events.where("user_id", "=", filter.userId);
    if (filter.from !== undefined) events = events.where("ts", ">=", filter.from);
    if (filter.before !== undefined) events = events.where("ts", "<", filter.before);
    const seqs = (await events.execute()).map(({ seq }) => seq);
    const change = seqs.length > 0 ? await deleteSeqs(store, dataset, seqs) : undefined;
    if (change) notify(change);
    from = seqs.length < rowsPerStep ? to : (seqs.at(-1) as number);
    await new Promise(setImmediate);
  }
}

/**
 * Deletes events in PostgreSQL in the order of their ids: those of one user if a user is given, otherwise all in the
 * span. Rows are found again by their place in the table. A join on ids can compare each row with each id of the page
 * while the statistics of the table are out of date.
 */
async function deleteAlongIndex(
  { store, closing }: Walking,
  dataset: Dataset,
  { userId, from, before }: DeletionFilter,
  end: number,
): Promise<void> {
  const ofUser = userId === undefined ? sql`true` : sql`user_id = ${userId}`;
  let last: string | null = "";
  while (last !== null) {
    throwIfClosing(closing);
    last = await store.concurrently(async (db) => {
      const { rows } = await sql<{ last: string | null; gone: string[] | null }>`
        with page as (
          select event_id, ctid from events where dataset = ${dataset.number} and ${ofUser} and event_id > ${last}
          order by event_id limit ${sql.lit(seqsPerStep)}),
        gone as (
          delete from events where ctid = any(array(select ctid from page))
            and seq <= ${end} and ts >= ${from ?? sql`ts`} and ts < ${before ?? sql`ts + 1`}
          returning event_id)
        select (select max(event_id) from page) as last, (select array_agg(event_id) from gone) as gone`.execute(
        db,
      );
      const page = rows[0] as { last: string | null; gone: string[] | null };
      if (page.gone) {
        await countShards(db, dataset, page.gone, -1);
        await countDeletion(db, dataset);
      }
      return page.last;
    });
  }
}

function throwIfClosing(closing: AbortSignal): void {
  if (!closing.aborted) return;
  throw new ServiceError(
    "UNAVAILABLE",
    "Not all events were deleted, because the service is closing or every caller has disconnected. Call again.",
    { headers: { "retry-after": "5" } },
  );
}

/** Deletes events in one transaction. An event that was replaced meanwhile has a new `seq` and is kept. */
function deleteSeqs(
  store: Store,
  dataset: Dataset,
  seqs: readonly number[],
): Promise<EventsChange | undefined> {
  return store.exclusively(async (db) => {
    const rows = await db
      .deleteFrom("events")
      .where("seq", "in", seqs)
      .returning(["seq", "event_id", "user_id", "item_id", "event_type", "event_value"])
      .execute();
    if (rows.length === 0) return undefined;
    const ids = rows.map((row) => row.event_id);
    await countShards(db, dataset, ids, -1);
    return {
      dataset: dataset.number,
      deletions: await countDeletion(db, dataset),
      deleted: rows,
      written: [],
    };
  });
}

/**
 * Deletes the records and events of deleted datasets. It also runs at each start, because a kill may have interrupted
 * it.
 */
export async function sweepDeleted({ store, closing }: Pick<Walking, "store" | "closing">): Promise<void> {
  const deleted = await store.db
    .selectFrom("datasets")
    .select("number")
    .where("kind", "=", "deleted")
    // A deleted dataset keeps its row in `datasets`, so its number is never used again.
    // Every write is counted in `shards`, so a dataset without a row there has nothing left to delete.
    .where("number", "in", store.db.selectFrom("shards").select("dataset"))
    .execute();
  for (const { number } of deleted) {
    for (const table of ["records", "events"] as const)
      for (let last: string | undefined = ""; last !== undefined && !closing.aborted; ) {
        last = await sweepStep(store, table, number, last);
        await new Promise(setImmediate);
      }
    if (closing.aborted) return;
    await store.concurrently((db) => db.deleteFrom("shards").where("dataset", "=", number).execute());
  }
}

/**
 * Deletes one page of a deleted dataset, after an id. Returns the last id of the page, or undefined after the last
 * page.
 */
function sweepStep(
  store: Store,
  table: "records" | "events",
  number: number,
  after: string,
): Promise<string | undefined> {
  const id = sql.ref<string>(table === "records" ? "record_id" : "event_id");
  return store.concurrently(async (db) => {
    // Starts after the last page: from the first id on, PostgreSQL would scan deleted rows that are not vacuumed yet.
    const page = await db
      .selectFrom(table)
      .select(id.as("id"))
      .where("dataset", "=", number)
      .where(id, ">", after)
      .orderBy(id)
      .limit(rowsPerStep)
      .execute();
    const last = page.at(-1)?.id;
    if (last !== undefined)
      await db
        .deleteFrom(table)
        .where("dataset", "=", number)
        .where(id, ">", after)
        .where(id, "<=", last)
        .execute();
    return last;
  });
}
