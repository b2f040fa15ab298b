import { CompiledQuery, sql } from "kysely";
import { type Db, isPostgres } from "../store/database";
import type { Tables } from "../store/tables";

/** Whether a backup has the rows of a table. */
const held: Record<keyof Tables, boolean> = {
  datasets: true,
  shards: true,
  records: true,
  events: true,
  projects: true,
  algorithms: true,
  jobs: true,
  models: true,
  deployments: true,
  forgotten_users: true,
  idempotency_keys: true,
  refusals: true,
  dataset_sizes: true,
  orphans: true,
  holders: true,
  stable_addresses: true,
  // Their secrets go on being taken; a backup has only hashes of them.
  clients: true,
  // The id is in the manifest, and each secret in a separate file.
  instance: false,
  // Of the moment.
  processes: false,
  console_sessions: false,
  // As files, so that they can move between a database, a folder and a bucket.
  files: false,
  file_parts: false,
};

/** The tables whose rows a backup has. */
export const heldTables = (Object.keys(held) as (keyof Tables)[]).filter((table) => held[table]);

/** A row of any table. */
export type Row = Record<string, unknown>;

const rowsPerPage = 1000;

/** The columns of the tables that a database has; one that an older version wrote may have fewer. */
export async function columnsIn(db: Db): Promise<Map<string, ReadonlySet<string>>> {
  const tables = await db.introspection.getTables();
  return new Map(tables.map(({ name, columns }) => [name, new Set(columns.map((column) => column.name))]));
}

/** All rows of a table, page by page, inside a transaction. */
export async function* pagesOf(db: Db, table: keyof Tables): AsyncGenerator<Row[]> {
  const pages = isPostgres(db) ? pagesByCursor(db, table) : pagesByRowId(db, table);
  for await (const page of pages) yield table === "jobs" ? page.map(asWaiting) : page;
}

/** A job that runs now must be run again by whoever restores it, which is no failure of the job. */
function asWaiting(job: Row): Row {
  const isRunning = job.status === "RUNNING" && job.finished_ts === null;
  return isRunning ? { ...job, status: "PENDING", worker: null, lease_ts: 0 } : job;
}

async function* pagesByCursor(db: Db, table: string): AsyncGenerator<Row[]> {
  await sql`declare page no scroll cursor for select * from ${sql.table(table)}`.execute(db);
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(rowsPerPage)} from page`.execute(db);
    if (rows.length > 0) yield rows;
    if (rows.length < rowsPerPage) break;
  }
  await sql`close page`.execute(db);
}

async function* pagesByRowId(db: Db, table: string): AsyncGenerator<Row[]> {
  let last = 0;
  for (;;) {
    const { rows } = await sql<Row & { row_id: number }>`
      select rowid as row_id, * from ${sql.table(table)} where rowid > ${last}
      order by rowid limit ${sql.lit(rowsPerPage)}`.execute(db);
    if (rows.length > 0) yield rows.map(({ row_id: _, ...row }) => row);
    if (rows.length < rowsPerPage) return;
    last = (rows.at(-1) as { row_id: number }).row_id;
  }
}

/** Writes rows of one table as they were. */
export async function insertRows(db: Db, table: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  for (let from = 0; from < rows.length; from += rowsPerPage) {
    const page = rows.slice(from, from + rowsPerPage);
    if (isPostgres(db)) await insertAtOnce(db, table, columns, page);
    else await insertInSteps(db, table, columns, page);
  }
}

async function insertAtOnce(
  db: Db,
  table: string,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  const names = sql.join(columns.map((column) => sql.ref(column)));
  await sql`insert into ${sql.table(table)} (${names}) overriding system value
    select ${names} from json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)})`.execute(
    db,
  );
}

const rowsPerInsert = 100;

async function insertInSteps(
  db: Db,
  table: string,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  const names = columns.map((column) => `"${column}"`);
  for (let from = 0; from < rows.length; from += rowsPerInsert) {
    const some = rows.slice(from, from + rowsPerInsert);
    const values = some.map(() => `(${columns.map(() => "?")})`);
    await db.executeQuery(
      CompiledQuery.raw(
        `insert into "${table}" (${names}) values ${values}`,
        some.flatMap((row) => columns.map((column) => row[column])),
      ),
    );
  }
}
