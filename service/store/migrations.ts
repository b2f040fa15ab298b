import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Kysely, type Migration, Migrator, PostgresAdapter, sql } from "kysely";
import { isPostgresUrl, withoutPassword } from "./address";
import { isOutage } from "./postgres-errors";
import { sqliteTables } from "./sqlite-tables";
import type { Tables } from "./tables";

/** How long a migration waits for the lock of a table. Below `deadlock_timeout` (1 s), so it gives way to queries. */
const lockMs = 500;
/** Pause before a migration is tried again. Later statements on the table waited for its lock, and run now. */
const pauseMs = 2000;
/** How long one migration is tried before it fails. */
const patienceMs = 240_000;

/**
 * Runs the pending migrations, in one transaction if possible. Processes that start at the same time wait for each
 * other. If a lock is not free soon, each migration gets its own transaction, because a busy database rarely frees the
 * locks of all of them in a row. If the process ends in between, the next start runs the rest: each migration leaves
 * tables that all processes can use.
 *
 * Rules for a migration:
 * - Processes of the previous version keep running and may restart. So a migration only adds tables and columns, and
 *   new columns have defaults. If it is incompatible with these processes, its name ends with `!`.
 * - It creates no index on a table that may be large, such as events or records, because that would block writes. Such
 *   an index is created later by `createIndexes`, and queries work without it until then.
 */
export async function migrate(db: Kysely<Tables>, patience = patienceMs): Promise<void> {
  const known = migrationsOf(db.getExecutor().adapter instanceof PostgresAdapter);
  let separately = false;
  for (let until = Date.now() + patience; ; ) {
    const newer = (await executedIn(db)).filter((name) => !(name in known));
    if (newer.some((name) => name.endsWith("!"))) throw new Error(tooOld);
    // Kysely fails if it does not know a migration that was executed.
    const all = { ...known, ...Object.fromEntries(newer.map((name) => [name, statements()])) };
    const { error, isComplete } = await runPending(db, all, separately);
    if (isComplete) return;
    if (!error) {
      until = Date.now() + patience;
      continue;
    }
    const isLocked = (error as { code?: unknown }).code === lockTimeoutCode;
    separately ||= isLocked;
    // A newer version may have migrated the tables meanwhile.
    const isBehind = !isLocked && (await executedIn(db)).some((name) => !(name in all));
    if (!isBehind && !isLocked) throw error;
    if (Date.now() > until) throw new Error(isLocked ? locked : tooOld, { cause: error });
    await sleep(pauseMs);
  }
}

interface Progress {
  readonly error?: unknown;
  readonly isComplete: boolean;
}

/** Runs the next pending migration, or all of them in one transaction. */
async function runPending(
  db: Kysely<Tables>,
  all: Record<string, Migration>,
  onlyNext: boolean,
): Promise<Progress> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  const getMigrations = async () =>
    Object.fromEntries(
      Object.entries(all).map(([name, one]) => [name, isPostgres ? withLockTimeout(one) : one]),
    );
  const migrator = new Migrator({ db, provider: { getMigrations } });
  const { error, results } = await (onlyNext ? migrator.migrateUp() : migrator.migrateToLatest());
  return { error, isComplete: !error && (!onlyNext || results?.length === 0) };
}

/** Throws if a database lacks a migration of this version, or has a newer one that is incompatible. */
export async function refusePending(db: Kysely<Tables>, location: string): Promise<void> {
  const executed = await executedIn(db);
  const known = migrationsOf(isPostgresUrl(location));
  if (executed.some((name) => !(name in known) && name.endsWith("!"))) throw new Error(tooOld);
  if (Object.keys(known).every((name) => executed.includes(name))) return;
  const [what, option] = isPostgresUrl(location)
    ? [`database ${withoutPassword(location)}`, `--store ${withoutPassword(location)}`]
    : [`data directory ${dirname(location)}`, `--data ${dirname(location)}`];
  throw new Error(
    `The ${what} lacks tables that this version of recommender needs, and this command does not create them. ` +
      `To create them, start this version of the service: \`recommender serve ${option}\`.`,
  );
}

/** Returns the migrations of a database by name. */
export function migrationsOf(isPostgres: boolean): Record<string, Migration> {
  const first = isPostgres ? postgresTables : sqliteTables;
  return { "01-tables": first, ...migrations, ...(isPostgres && postgresMigrations) };
}

/** Returns the names of the migrations that a database has executed. Empty for a new database. */
async function executedIn(db: Kysely<Tables>): Promise<string[]> {
  const names = sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return names
    .then(({ rows }) => rows.map(({ name }) => name))
    .catch((error) => {
      if (isOutage(error)) throw error;
      return [];
    });
}

/** SQLSTATE of a statement that waited too long for a lock. */
const lockTimeoutCode = "55P03";

function withLockTimeout({ up }: Migration): Migration {
  return {
    up: async (db) => {
      await sql`set local lock_timeout = ${sql.lit(lockMs)}`.execute(db);
      await up(db);
    },
  };
}

const tooOld =
  "The data was written by a newer version of recommender. Install that version, or use another data directory or database.";

const locked =
  "Cannot migrate the tables: a long transaction locks one of them, such as a training that reads its data, or a backup. " +
  "Start this version again when the transaction has ended. Other processes keep running.";

/** Migrations, executed once in the order of their names. Never change a released one; add another. */
const migrations: Record<string, Migration> = {
  "02-processes": statements(
    // The process that runs a job, its number of attempts, and the end of its lease.
    "alter table jobs add column worker text",
    "alter table jobs add column attempt integer not null default 0",
    "alter table jobs add column lease_ts bigint not null default 0",
    // The number of upserts of an item dataset, and for each item the upsert that wrote it last.
    "alter table datasets add column changes bigint not null default 0",
    "alter table records add column changed bigint not null default 0",
    `create table processes (
      id text primary key, role text not null, version text not null, seen_ts bigint not null)`,
  ),
  // Request id of the call that submitted a job, to find the log lines of the call and of the job.
  "05-request-ids": statements("alter table jobs add column request_id text"),
  "06-clients": statements(
    `create table clients (
      id text primary key, name text not null unique, secret_hash text not null, scopes text not null,
      created_ts bigint not null)`,
  ),
  "07-console": statements(
    `create table console_sessions (
      id text primary key, token_hash text, client_id text, access text not null, expires_ts bigint not null)`,
    // Used to count the events since a model was trained.
    "alter table models add column seen_seq bigint",
  ),
  "08-history": statements(
    `create table refusals (
      dataset integer not null, day integer not null, reason text not null, records bigint not null,
      last_ts bigint not null, last text not null, primary key (dataset, day, reason))`,
  ),
  "09-forgetting": statements(
    // Count of deletions up to which forgotten users were removed from the model's file.
    "alter table models add column forgotten_until bigint not null default 0",
    // Marks the record of a forgotten user. Trainings ignore it until it is uploaded again.
    "alter table records add column forgotten integer not null default 0",
    // Earlier versions did not hash the ids.
    "alter table forgotten_users add column hashed integer not null default 0",
  ),
  "10-orphans": statements(
    `create table orphans (
      object_type text not null, object_id text not null, orphaned_ts bigint not null, origin text,
      primary key (object_type, object_id))`,
    `create table stable_addresses (
      address text primary key, project_id text not null, job_number integer not null)`,
  ),
  // The console lists jobs and models, which are kept for years. The tables are small enough to create indexes here.
  "11-console-indexes": statements(
    "create index jobs_by_status on jobs (status, number)",
    "create index jobs_of_project on jobs (project_id, number)",
    "create index jobs_of_type on jobs (project_id, job_type, finished_ts)",
    "create index models_of_project on models (project_id, number)",
  ),
  "12-holders": statements(
    `create table holders (
      object_type text not null, object_id text not null, holder text not null,
      primary key (object_type, object_id, holder))`,
    // Unknown programs may use the existing objects.
    ...[
      ["USER_DATASET", "datasets where kind = 'user' and"],
      ["ITEM_DATASET", "datasets where kind = 'item' and"],
      ["PROJECT", "projects where"],
      ["ALGORITHM", "algorithms where"],
    ].map(
      ([type, existing]) => `insert into holders (object_type, object_id, holder)
        select '${type}', id, '' from ${existing} id not in (select object_id from orphans)`,
    ),
  ),
  // Key for tombstones with `hashed` 2. Earlier tombstones are hashed again at the next start.
  "13-tombstone-key": statements("alter table instance add column tombstone_key text"),
  "14-last-uploads": statements("alter table datasets add column last_uploads text"),
  "15-replaced-uploads": statements("alter table datasets add column replaced_uploads text"),
  "16-rules": statements("alter table deployments add column rules text"),
  "17-public-keys": statements("alter table clients add column pages text"),
  "18-recommendation-jobs": statements(
    "create table job_users (job_id text not null, user_id text not null, primary key (user_id, job_id))",
    "create index users_of_job on job_users (job_id)",
    `create table job_chunks (
      job_id text not null, number integer not null, attempt integer not null, users integer not null,
      deletions bigint not null, primary key (job_id, number))`,
  ),
};

/** Migrations of PostgreSQL only. */
const postgresMigrations: Record<string, Migration> = {
  "03-shared": statements(
    // The table is always empty here, because this migration is older than the first release with PostgreSQL.
    "create index records_changed on records (dataset, changed)",
    "alter table instance add column signing_secret text",
  ),
  "04-files": statements(
    `create table files (
      name text primary key, upload text not null, bytes bigint not null, written timestamptz not null default now())`,
    `create table file_parts (
      upload text, part integer, name text not null, data bytea not null, begun timestamptz not null default now(),
      primary key (upload, part))`,
    "create index file_parts_name on file_parts (name)",
    // Vectors hardly compress.
    "alter table file_parts alter column data set storage external",
  ),
};

const postgresTables = statements(
  `create table datasets (
    id text primary key, number integer not null unique, kind text not null, name text not null,
    num_shards bigint not null, attribute_schema text, deletions bigint not null, created_ts bigint not null)`,
  `create table shards (
    dataset integer not null, shard bigint not null, records bigint not null, primary key (dataset, shard))`,
  `create table records (
    dataset integer not null, record_id text collate "C" not null, attributes text not null,
    primary key (dataset, record_id))`,
  // The index events_of_user contains all columns that a recommendation needs, so the table is not read.
  `create table events (
    seq bigint generated always as identity, dataset integer not null, event_id text collate "C" not null,
    user_id text collate "C" not null, item_id text collate "C" not null, ts bigint not null, event_type text not null,
    event_value double precision not null, attributes text not null, primary key (dataset, event_id))`,
  `create index events_of_user on events (dataset, user_id) include (event_type, item_id, event_value, seq)`,
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
    created_ts bigint not null, finished_ts bigint, due_ts bigint not null default 0)`,
  "create index jobs_unfinished on jobs (status, number) where finished_ts is null",
  `create table models (
    id text primary key, number integer not null unique, project_id text not null, name text not null,
    algorithm_type text not null, algorithm_parameters text not null, created_ts bigint not null,
    seen_deletions bigint not null default 0)`,
  `create table deployments (
    project_id text primary key, job_id text not null, generator_model_id text not null, ranker_model_id text,
    qps integer not null)`,
  `create table forgotten_users (
    event_dataset_id text not null, user_id text not null, deletions bigint not null,
    primary key (event_dataset_id, user_id))`,
  `create table idempotency_keys (
    idempotency_key text primary key, fingerprint text not null, reply text not null, created_ts bigint not null)`,
  "create table instance (id text primary key)",
);

/** Creates a migration from SQL statements. */
function statements(...texts: string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
