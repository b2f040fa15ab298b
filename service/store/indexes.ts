import { sql } from "kysely";
import type { Logger } from "pino";
import { connect, type Db, type Store } from "./database";

/** The index of events by the order of their writing, for the console. */
const eventsBySeq = "events_by_seq";

/** Any number that nobody else takes a lock on in this database. */
const indexLock = 7_146_282_302;

/**
 * Makes the indexes that no migration may make, because nobody could write to a large table until they are done. It runs
 * beside all other work, in one process at a time; one that was broken off is made again.
 */
export async function makeIndexes(
  { location, isShared }: Store,
  log: Logger,
  closing: AbortSignal,
): Promise<void> {
  if (!isShared) return;
  const db = connect(location, { connections: 1, writes: true, primaryOnly: true });
  const end = () => void db.destroy();
  closing.addEventListener("abort", end);
  try {
    const { rows } = await sql<{ taken: boolean }>`
      select pg_try_advisory_lock(${sql.lit(indexLock)}) as taken`.execute(db);
    if (!rows[0]?.taken || (await isUsable(db))) return;
    await sql`drop index concurrently if exists ${sql.table(eventsBySeq)}`.execute(db);
    await sql`create index concurrently ${sql.table(eventsBySeq)} on events (dataset, seq)`.execute(db);
  } catch (error) {
    if (!closing.aborted) log.error({ err: error }, "an index cannot be made; trying again in an hour");
  } finally {
    closing.removeEventListener("abort", end);
    await db.destroy().catch(() => undefined);
  }
}

/** Databases whose index is known to be there. */
const known = new WeakSet<Db>();

/** Whether events can be read in the order of their writing without a scan of the whole table. */
export async function hasEventsBySeq(db: Db): Promise<boolean> {
  if (!known.has(db) && (await isUsable(db))) known.add(db);
  return known.has(db);
}

async function isUsable(db: Db): Promise<boolean> {
  const { rows } = await sql<{ valid: boolean }>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${eventsBySeq})`.execute(db);
  return rows[0]?.valid === true;
}
