import { type Migration, sql } from "kysely";

/** Migrations of versions before 0.2, which were recorded in the table `migrations`. Never change them. */
const firstSteps: readonly string[] = [
  `create table datasets (
    id text primary key, number integer not null unique, kind text not null, name text not null,
    num_shards bigint not null, attribute_schema text, deletions bigint not null, created_ts bigint not null)`,
  `create table shards (
    dataset integer not null, shard bigint not null, records bigint not null, primary key (dataset, shard))`,
  `create table records (
    dataset integer not null, record_id text not null, attributes text not null, primary key (dataset, record_id))`,
  // No further indexes: each index with random keys would halve the rate of upserts.
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
  // Models of earlier versions get 0: forgotten_users contains no deletion from before their training.
  "alter table models add column seen_deletions bigint not null default 0",
  `create table forgotten_users (
    event_dataset_id text not null, user_id text not null, deletions bigint not null,
    primary key (event_dataset_id, user_id))`,
  // The queue is polled often, and ended jobs are kept for a year.
  "create index jobs_unfinished on jobs (status, number) where finished_ts is null",
];

/** Creates the tables. If a version before 0.2 created the database, runs only the steps that it lacks. */
export const sqliteTables: Migration = {
  up: async (db) => {
    await sql`create table if not exists migrations (step integer primary key)`.execute(db);
    const { rows } = await sql<{ done: number }>`select count(*) as done from migrations`.execute(db);
    const { done } = rows[0] as { done: number };
    for (const [step, text] of firstSteps.entries()) {
      if (step < done) continue;
      await sql.raw(text).execute(db);
      await sql`insert into migrations (step) values (${step})`.execute(db);
    }
  },
};
