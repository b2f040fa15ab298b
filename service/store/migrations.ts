import { type Kysely, sql } from "kysely";
import type { Tables } from "./tables";

/** Each step is taken once, in this order; a released step is never changed, only followed by another. */
const steps: readonly string[] = [
  `create table datasets (
    id text primary key, number integer not null unique, kind text not null, name text not null,
    num_shards bigint not null, attribute_schema text, deletions bigint not null, created_ts bigint not null)`,
  `create table shards (
    dataset integer not null, shard bigint not null, records bigint not null, primary key (dataset, shard))`,
  `create table records (
    dataset integer not null, record_id text not null, attributes text not null, primary key (dataset, record_id))`,
  // No index beside these two: each further one with random keys would halve the rate of upserts.
  `create table events (
    seq integer primary key, dataset integer not null, event_id text not null, user_id text not null,
    item_id text not null, ts bigint not null, event_type text not null, event_value double precision not null,
    attributes text not null, unique (dataset, event_id))`,
  `create table projects (
    id text primary key, name text not null, project_type text not null, user_dataset_id text not null,
    item_dataset_id text not null, event_dataset_id text not null, target_event_type text not null,
    created_ts bigint not null)`,
  `create table algorithms (
    id text primary key, project_id text not null, name text not null, algorithm_type text not null,
    algorithm_parameters text not null)`,
  `create table jobs (
    number integer primary key, id text not null unique, project_id text not null, job_type text not null,
    name text not null, data text not null, result text, status text not null, retry_count integer not null,
    created_ts bigint not null, finished_ts bigint)`,
  `create table models (
    id text primary key, number integer not null unique, project_id text not null, name text not null,
    algorithm_type text not null, algorithm_parameters text not null,
    created_ts bigint not null)`,
  `create table deployments (
    project_id text primary key, job_id text not null, generator_model_id text not null, ranker_model_id text,
    qps integer not null)`,
  `create table idempotency_keys (
    idempotency_key text primary key, fingerprint text not null, reply text not null, created_ts bigint not null)`,
  "create table instance (id text primary key)",
  "alter table jobs add column due_ts bigint not null default 0",
  // Models of before have seen no deletion that is recorded in forgotten_users.
  "alter table models add column seen_deletions bigint not null default 0",
  `create table forgotten_users (
    event_dataset_id text not null, user_id text not null, deletions bigint not null,
    primary key (event_dataset_id, user_id))`,
  // The queue is looked at all the time, and ended jobs stay for a year.
  "create index jobs_unfinished on jobs (status, number) where finished_ts is null",
];

/** Takes the steps that are still to be taken, all of them or none. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`create table if not exists migrations (step integer primary key)`.execute(trx);
    const { taken } = await trx
      .selectFrom("migrations")
      .select((of) => of.fn.countAll<number>().as("taken"))
      .executeTakeFirstOrThrow();
    if (taken > steps.length) {
      throw new Error(
        "The data folder was written by a newer version of recommender; install that version, or use another folder.",
      );
    }
    for (const [step, text] of steps.entries()) {
      if (step < taken) continue;
      await sql.raw(text).execute(trx);
      await trx.insertInto("migrations").values({ step }).execute();
    }
  });
}
