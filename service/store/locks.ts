// Advisory locks of PostgreSQL, all of them in one place because their keys must differ.

import { sql } from "kysely";
import { type Db, isPostgres } from "./dialect";
import type { Dataset } from "./tables";

/** Keys of locks that have one key. The numbers are arbitrary. */
const [exclusiveLock, indexLock] = [7_146_282_301, 7_146_282_302];
/** First keys of locks that have two keys. They never conflict with locks that have one key. */
const [upsertLock, modelLock] = [1, 2];

/** Waits until no process runs another exclusive transaction. An embedded database runs one at a time anyway. */
export async function lockExclusively(db: Db): Promise<void> {
  if (isPostgres(db)) await sql`select pg_advisory_xact_lock(${sql.lit(exclusiveLock)})`.execute(db);
}

/** Takes the lock for creating indexes if no other process has it. It is held until the connection closes. */
export async function tryIndexLock(db: Db): Promise<boolean> {
  const { rows } = await sql<{ isLocked: boolean }>`
    select pg_try_advisory_lock(${sql.lit(indexLock)}) as "isLocked"`.execute(db);
  return rows[0]?.isLocked === true;
}

/** Takes the lock for upserts into a dataset until the transaction ends. Shared locks do not wait for each other. */
export async function lockUpserts(db: Db, { number }: Dataset, mode: "shared" | "exclusive"): Promise<void> {
  if (!isPostgres(db)) return;
  const lock = sql.raw(mode === "shared" ? "pg_advisory_xact_lock_shared" : "pg_advisory_xact_lock");
  await sql`select ${lock}(${sql.lit(upsertLock)}, ${number})`.execute(db);
}

/**
 * Runs `work` while no other process rewrites the file of a model. A concurrent rewrite would restore users that `work`
 * removes.
 */
export function withModelLock<T>(db: Db, modelId: string, work: (locked: Db) => Promise<T>): Promise<T> {
  if (!isPostgres(db)) return work(db);
  return db.transaction().execute(async (locked) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(modelLock)}, hashtext(${modelId}))`.execute(locked);
    return work(locked);
  });
}
