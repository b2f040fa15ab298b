import { sql } from "kysely";
import { limits } from "../../contract";
import { ConflictError, type Db, isPostgres } from "./database";
import type { Dataset } from "./tables";

/** How many records the dataset can still take; no other transaction takes these places before this one has ended. */
export async function freePlaces(db: Db, dataset: Dataset): Promise<number> {
  if (!isPostgres(db)) return countFree(db, dataset);
  const { rows } = await sql<{ most: number }>`
    select current_setting('max_connections')::int * ${sql.lit(limits.recordsPerUpsert)} as most`.execute(db);
  const { most } = rows[0] as { most: number };
  // As long as all upserts that can be under way fit, they need not wait for each other.
  const allFit = (free: number) => free >= most;
  const together = allFit(await countFree(db, dataset));
  const lock = together ? sql.raw("pg_advisory_xact_lock_shared") : sql.raw("pg_advisory_xact_lock");
  await sql`select ${lock}(${sql.lit(ceilingLock)}, ${dataset.number})`.execute(db);
  const free = await countFree(db, dataset);
  if (together && !allFit(free)) throw new ConflictError();
  return free;
}

/** Locks of two numbers are others than those of one. */
const ceilingLock = 1;

async function countFree(db: Db, dataset: Dataset): Promise<number> {
  const { held } = await db
    .selectFrom("shards")
    .select((of) => of.fn.coalesce(of.fn.sum<number>("records"), of.lit(0)).as("held"))
    .where("dataset", "=", dataset.number)
    .executeTakeFirstOrThrow();
  return dataset.num_shards * limits.recordsPerShard - Number(held);
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
