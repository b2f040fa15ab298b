import { sql } from "kysely";
import type { Logger } from "pino";
import { connect, type Db, isPostgres, type Store } from "./database";
import { tryIndexLock } from "./locks";

/** Index of events in the order in which they were written, for the console. */
const eventsBySeq = "events_by_seq";

/**
 * Creates the indexes that are too large for a migration, because a migration would block all writes until they are
 * complete. Runs concurrently with other work, in one process at a time. An interrupted index is created again.
 */
export async function createIndexes(
  { location, isShared }: Store,
  log: Logger,
  closing: AbortSignal,
): Promise<void> {
  if (!isShared) return;
  const db = connect(location, { connections: 1, writes: true, primaryOnly: true });
  const end = () => void db.destroy();
  closing.addEventListener("abort", end);
  try {
    if (!(await tryIndexLock(db)) || (await isUsable(db))) return;
    await sql`drop index concurrently if exists ${sql.table(eventsBySeq)}`.execute(db);
    await sql`create index concurrently ${sql.table(eventsBySeq)} on events (dataset, seq)`.execute(db);
  } catch (error) {
    if (!closing.aborted) log.error({ err: error }, "cannot create an index; will try again in an hour");
  } finally {
    closing.removeEventListener("abort", end);
    await db.destroy().catch(() => undefined);
  }
}

/** Connections to databases whose index is complete. */
const complete = new WeakSet<Db>();

/** Whether events can be read in the order of `seq` without a scan of the whole table. Always true for SQLite. */
export async function hasEventsBySeq(db: Db): Promise<boolean> {
  if (!isPostgres(db)) return true;
  if (!complete.has(db) && (await isUsable(db))) complete.add(db);
  return complete.has(db);
}

async function isUsable(db: Db): Promise<boolean> {
  const { rows } = await sql<{ valid: boolean }>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${eventsBySeq})`.execute(db);
  return rows[0]?.valid === true;
}
