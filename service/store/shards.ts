import { sql } from "kysely";
import { limits } from "../../contract";
import { ConflictError, type Db, isPostgres } from "./database";
import type { Dataset } from "./tables";

/**
 * How many records the dataset can still take; no other transaction takes these places before this one has ended, nor
 * is the dataset deleted before.
 */
export async function freePlaces(db: Db, dataset: Dataset): Promise<number> {
  if (!isPostgres(db)) return countFree(db, dataset);
  const { free: seen, most } = await look(db, dataset);
  const isWide = seen >= most;
  // What upserts beside each other could take at most: so many as there can be or, where that is too much, as there are.
  const wanted = async () =>
    isWide ? most : (1 + (await upsertsInto(db, dataset))) * limits.recordsPerUpsert;
  const together = isWide || seen >= 2 * (await wanted());
  await lockPlaces(db, dataset, together ? "together" : "alone");
  // In this order: what a transaction wrote can be seen before its lock is gone.
  const needed = together ? await wanted() : Number.NEGATIVE_INFINITY;
  const { free, isThere } = await look(db, dataset);
  if (!isThere || free < needed) throw new ConflictError();
  return free;
}

/** Waits until no upsert into the dataset is under way, and keeps others out until this transaction has ended. */
export async function keepUpsertsOut(db: Db, dataset: Dataset): Promise<void> {
  if (isPostgres(db)) await lockPlaces(db, dataset, "alone");
}

/** Locks of two numbers are others than those of one. */
const placesLock = 1;

async function lockPlaces(db: Db, { number }: Dataset, how: "together" | "alone"): Promise<void> {
  const lock = sql.raw(how === "together" ? "pg_advisory_xact_lock_shared" : "pg_advisory_xact_lock");
  await sql`select ${lock}(${sql.lit(placesLock)}, ${number})`.execute(db);
}

/** How many others have that lock or wait for it. */
async function upsertsInto(db: Db, { number }: Dataset): Promise<number> {
  const { rows } = await sql<{ others: number }>`
    select count(*) as others from pg_locks
    where locktype = 'advisory' and classid = ${sql.lit(placesLock)} and objid = ${number} and objsubid = 2
      and database = (select oid from pg_database where datname = current_database())
      and pid <> pg_backend_pid()`.execute(db);
  return rows[0]?.others as number;
}

async function look(db: Db, dataset: Dataset): Promise<{ free: number; most: number; isThere: boolean }> {
  const { rows } = await sql<{ free: number; most: number; isThere: boolean }>`
    select current_setting('max_connections')::int * ${sql.lit(limits.recordsPerUpsert)} as most,
      ${dataset.num_shards * limits.recordsPerShard}::bigint -
        (select coalesce(sum(records), 0) from shards where dataset = ${dataset.number}) as free,
      exists (select from datasets where number = ${dataset.number} and kind = ${dataset.kind}) as "isThere"`.execute(
    db,
  );
  return rows[0] as { free: number; most: number; isThere: boolean };
}

async function countFree(db: Db, dataset: Dataset): Promise<number> {
  return dataset.num_shards * limits.recordsPerShard - (await countRecords(db, dataset));
}

/** The number of records in a dataset, by the counts that every write keeps. */
export async function countRecords(db: Db, dataset: Dataset): Promise<number> {
  const { held } = await db
    .selectFrom("shards")
    .select((of) => of.fn.coalesce(of.fn.sum<number>("records"), of.lit(0)).as("held"))
    .where("dataset", "=", dataset.number)
    .executeTakeFirstOrThrow();
  return Number(held);
}

/** Adds to (or takes from) the counts of the shards in which the ids lie. */
export async function countShards(
  db: Db,
  dataset: Dataset,
  ids: Iterable<string>,
  each: 1 | -1,
): Promise<void> {
  const counts = new Map<number, number>();
  for (const id of ids) {
    const shard = shardOf(id, dataset.num_shards);
    counts.set(shard, (counts.get(shard) ?? 0) + each);
  }
  if (counts.size === 0) return;
  const rows = [...counts]
    .sort(([a], [b]) => a - b)
    .map(([shard, records]) => ({ dataset: dataset.number, shard, records }));
  await db
    .insertInto("shards")
    .values(rows)
    .onConflict((on) =>
      on.columns(["dataset", "shard"]).doUpdateSet((of) => ({
        records: of("shards.records", "+", of.ref("excluded.records")),
      })),
    )
    .execute();
}

/** The shard of a record: a stable hash of its id (FNV-1a), so that the same id always lands in the same shard. */
function shardOf(id: string, shards: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % shards;
}
