import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Kysely, type Migration, Migrator, PostgresAdapter, sql } from "kysely";
import { isPostgresUrl, withoutPassword } from "./address";
import { isOutage } from "./postgres-errors";
import type { Tables } from "./tables";

/** How long a migration waits for a table before it lets others pass, and for how long it tries anew. */
const lockMs = 2000;
const patienceMs = 240_000;

/**
 * Brings the tables up to date, all of it or nothing; processes that start at once wait for each other. Processes of the
 * version before go on meanwhile and may start again, so a migration only adds: what they do not know has a default. One
 * that they cannot live with has a name that ends with `!`. No migration makes an index on a table that may be large by
 * then, such as events or records, for nobody could write to it until that is done: such an index is made after the
 * migrations by `create index concurrently if not exists`, which cannot run in their transaction, and until it is there
 * its readers do without.
 */
export async function migrate(db: Kysely<Tables>, patience = patienceMs): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  const own = migrationsOf(isPostgres);
  for (const until = Date.now() + patience; ; ) {
    const added = (await taken(db)).filter((name) => !(name in own));
    if (added.some((name) => name.endsWith("!"))) throw new Error(tooOld);
    const all = Object.entries({ ...own, ...Object.fromEntries(added.map((name) => [name, each()])) });
    const getMigrations = async () =>
      Object.fromEntries(all.map(([name, one]) => [name, isPostgres ? impatient(one) : one]));
    const { error } = await new Migrator({ db, provider: { getMigrations } }).migrateToLatest();
    if (!error) return;
    // A newer version may have come between.
    const isBehind = /previously executed migration .* is missing/.test(String(error));
    const isHeld = (error as { code?: unknown }).code === "55P03";
    if (!isBehind && !isHeld) throw error;
    if (Date.now() > until) throw new Error(isHeld ? held : tooOld, { cause: error });
    // Whoever waits for a table keeps all waiting that come after; those go first now.
    await sleep(lockMs);
  }
}

/** Fails, and names the command that helps, if a database lacks a migration of this version or has an incompatible newer one. */
export async function refusePending(db: Kysely<Tables>, place: string): Promise<void> {
  const done = await taken(db);
  const own = migrationsOf(isPostgresUrl(place));
  if (done.some((name) => !(name in own) && name.endsWith("!"))) throw new Error(tooOld);
  if (Object.keys(own).every((name) => done.includes(name))) return;
  const [what, option] = isPostgresUrl(place)
    ? [`database ${withoutPassword(place)}`, `--store ${withoutPassword(place)}`]
    : [`folder ${dirname(place)}`, `--data ${dirname(place)}`];
  throw new Error(
    `The ${what} lacks tables of this version of recommender, and this command does not make them. ` +
      `Start the service of this version to add them: \`recommender serve ${option}\`.`,
  );
}

/** The migrations of a database by name. */
export function migrationsOf(isPostgres: boolean): Record<string, Migration> {
  const first = isPostgres ? inPostgres : embedded;
  return { "01-tables": first, ...migrations, ...(isPostgres && onlyInPostgres) };
}

/** The names of the migrations that a database has had; none where it is new. */
async function taken(db: Kysely<Tables>): Promise<string[]> {
  const names = sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return names
    .then(({ rows }) => rows.map(({ name }) => name))
    .catch((error) => {
      if (isOutage(error)) throw error;
      return [];
    });
}

function impatient({ up }: Migration): Migration {
  return {
    up: async (db) => {
      await sql`set local lock_timeout = ${sql.lit(lockMs)}`.execute(db);
      await up(db);
    },
  };
}

const tooOld =
  "The data was written by a newer version of recommender; install that version, or use another folder or database.";

const held =
  "The tables cannot be brought up to date, because a transaction holds one of them for long, such as a training that " +
  "reads its data, or a backup. Start this version again when it has ended; other processes go on meanwhile.";

/** Taken once, in the order of their names; a released one is never changed, only followed by another. */
const migrations: Record<string, Migration> = {
  "02-processes": each(
    // The process that runs a job, how often the job was taken, and until when it need not be given up.
    "alter table jobs add column worker text",
    "alter table jobs add column attempt integer not null default 0",
    "alter table jobs add column lease_ts bigint not null default 0",
    // Counts the upserts of an item dataset, and says of each item in which of them it was written last.
    "alter table datasets add column changes bigint not null default 0",
    "alter table records add column changed bigint not null default 0",
    `create table processes (
      id text primary key, role text not null, version text not null, seen_ts bigint not null)`,
  ),
  // Of the call that submitted a job, so that what is logged of both can be found together.
  "05-request-ids": each("alter table jobs add column request_id text"),
  "06-clients": each(
    `create table clients (
      id text primary key, name text not null unique, secret_hash text not null, scopes text not null,
      created_ts bigint not null)`,
  ),
  "07-console": each(
    `create table console_sessions (
      id text primary key, token_hash text, client_id text, access text not null, expires_ts bigint not null)`,
    // How many events have come since a model was trained can be told from then on.
    "alter table models add column seen_seq bigint",
  ),
  "08-history": each(
    `create table refusals (
      dataset integer not null, day integer not null, reason text not null, records bigint not null,
      last_ts bigint not null, last text not null, primary key (dataset, day, reason))`,
    `create table dataset_sizes (
      dataset integer not null, day integer not null, ts bigint not null, records bigint not null,
      primary key (dataset, day))`,
  ),
  "09-forgetting": each(
    // Up to which deletion the model's file is free of forgotten users.
    "alter table models add column forgotten_until bigint not null default 0",
    // The record of a forgotten user, which nothing is learned from until it is uploaded again.
    "alter table records add column forgotten integer not null default 0",
    // Ids that an earlier version wrote are not hashed.
    "alter table forgotten_users add column hashed integer not null default 0",
  ),
  "10-orphans": each(
    `create table orphans (
      object_type text not null, object_id text not null, orphaned_ts bigint not null, origin text,
      primary key (object_type, object_id))`,
    `create table stable_addresses (
      address text primary key, project_id text not null, job_number integer not null)`,
  ),
  // Jobs and models stay for years, and the console lists them; these tables are small enough to be indexed here.
  "11-console-indexes": each(
    "create index jobs_by_status on jobs (status, number)",
    "create index jobs_of_project on jobs (project_id, number)",
    "create index jobs_of_type on jobs (project_id, job_type, finished_ts)",
    "create index models_of_project on models (project_id, number)",
  ),
  "12-holders": each(
    `create table holders (
      object_type text not null, object_id text not null, holder text not null,
      primary key (object_type, object_id, holder))`,
    // Some program may use what exists by now; nobody knows which one.
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
  // Only rows with `hashed` 2 use it; earlier ones are hashed again at the next start.
  "13-tombstone-key": each("alter table instance add column tombstone_key text"),
};

/** What a single process does without. */
const onlyInPostgres: Record<string, Migration> = {
  "03-shared": each(
    // From before the first release with PostgreSQL, so that no database has records by then.
    "create index records_changed on records (dataset, changed)",
    "alter table instance add column signing_secret text",
  ),
  "04-files": each(
    `create table files (
      name text primary key, upload text not null, bytes bigint not null, written timestamptz not null default now())`,
    `create table file_parts (
      upload text, part integer, name text not null, data bytea not null, begun timestamptz not null default now(),
      primary key (upload, part))`,
    "create index file_parts_name on file_parts (name)",
    // Vectors hardly shrink by packing.
    "alter table file_parts alter column data set storage external",
  ),
};

const inPostgres = each(
  `create table datasets (
    id text primary key, number integer not null unique, kind text not null, name text not null,
    num_shards bigint not null, attribute_schema text, deletions bigint not null, created_ts bigint not null)`,
  `create table shards (
    dataset integer not null, shard bigint not null, records bigint not null, primary key (dataset, shard))`,
  `create table records (
    dataset integer not null, record_id text collate "C" not null, attributes text not null,
    primary key (dataset, record_id))`,
  // The second index answers with a user's events without a look at the rows.
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

/** What versions before 0.2 took step by step, each counted in the table `migrations`; never changed any more. */
const embeddedSteps: readonly string[] = [
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

/** Takes over a folder at whatever step its version left it. */
const embedded: Migration = {
  up: async (db) => {
    await sql`create table if not exists migrations (step integer primary key)`.execute(db);
    const { rows } = await sql<{ taken: number }>`select count(*) as taken from migrations`.execute(db);
    const { taken } = rows[0] as { taken: number };
    for (const [step, text] of embeddedSteps.entries()) {
      if (step < taken) continue;
      await sql.raw(text).execute(db);
      await sql`insert into migrations (step) values (${step})`.execute(db);
    }
  },
};

function each(...texts: string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
