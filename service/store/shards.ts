import { sql } from "kysely";
import { limits } from "../../contract";
import { ConflictError, type Db, isPostgres } from "./database";
import { lockUpserts } from "./locks";
import type { Dataset } from "./tables";

/** If a dataset has room for this many upserts, an upsert takes a shared lock, otherwise an exclusive one. */
const concurrentUpserts = 20;

/**
 * Returns how many more records a dataset can take. The dataset cannot be deleted until the transaction ends. On
 * PostgreSQL, more than 20 concurrent upserts can exceed the limit by one batch for each further upsert.
 */
export async function freeCapacity(db: Db, dataset: Dataset): Promise<number> {
  if (!isPostgres(db)) return capacityOf(dataset) - (await countRecords(db, dataset));
  const isNearlyFull = ({ free }: { readonly free: number }) =>
    free < concurrentUpserts * limits.recordsPerUpsert;
  const isExclusive = isNearlyFull(await readCapacity(db, dataset));
  await lockUpserts(db, dataset, isExclusive ? "exclusive" : "shared");
  const capacity = await readCapacity(db, dataset);
  if (!capacity.exists || (!isExclusive && isNearlyFull(capacity))) throw new ConflictError();
  return capacity.free;
}

async function readCapacity(db: Db, dataset: Dataset): Promise<{ free: number; exists: boolean }> {
  const { rows } = await sql<{ free: number; exists: boolean }>`
    select ${capacityOf(dataset)}::bigint -
        (select coalesce(sum(records), 0) from shards where dataset = ${dataset.number}) as free,
      exists (select from datasets where number = ${dataset.number} and kind = ${dataset.kind})`.execute(db);
  return rows[0] as { free: number; exists: boolean };
}

function capacityOf({ num_shards }: Dataset): number {
  return num_shards * limits.recordsPerShard;
}

/** Returns the number of records in a dataset, from the counts that every write updates. */
export async function countRecords(db: Db, dataset: Dataset): Promise<number> {
  const { records } = await db
    .selectFrom("shards")
    .select((of) => of.fn.coalesce(of.fn.sum<number>("records"), of.lit(0)).as("records"))
    .where("dataset", "=", dataset.number)
    .executeTakeFirstOrThrow();
  return Number(records);
}

/** Adds records to the counts of their shards, or subtracts them. */
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

/** Returns the shard of a record. The hash (FNV-1a) is stable, so an id is always in the same shard. */
function shardOf(id: string, shards: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % shards;
}
