import { type Row, readPages } from "../store/bulk-rows";
import type { Db } from "../store/database";
import type { Tables } from "../store/tables";

/** Whether a backup contains the rows of each table. */
const isBackedUp: Record<keyof Tables, boolean> = {
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
  orphans: true,
  holders: true,
  stable_addresses: true,
  job_users: true,
  // Contains hashes of the clients' secrets, which stay valid after a restore.
  clients: true,
  // The id is in the manifest, and each secret in a separate file.
  instance: false,
  processes: false,
  // A restored job starts from the beginning.
  job_chunks: false,
  console_sessions: false,
  // Backed up as files, because a restore may put them into a database, a directory or a bucket.
  files: false,
  file_parts: false,
};

/** Tables whose rows are in a backup. */
export const backedUpTables = (Object.keys(isBackedUp) as (keyof Tables)[]).filter(
  (table) => isBackedUp[table],
);

/** Returns the columns of all tables. A database written by an older version may have fewer than {@link Tables}. */
export async function columnsIn(db: Db): Promise<Map<string, ReadonlySet<string>>> {
  const tables = await db.introspection.getTables();
  return new Map(tables.map(({ name, columns }) => [name, new Set(columns.map((column) => column.name))]));
}

/** Reads the rows of a table in pages, in the form that a backup contains. Call it inside of a transaction. */
export async function* pagesOf(db: Db, table: keyof Tables): AsyncGenerator<Row[]> {
  for await (const page of readPages(db, table)) yield table === "jobs" ? page.map(asPending) : page;
}

/** Marks a running job as pending, because the restored service has to run it again. This does not count as a retry. */
function asPending(job: Row): Row {
  const isRunning = job.status === "RUNNING" && job.finished_ts === null;
  return isRunning ? { ...job, status: "PENDING", worker: null, lease_ts: 0 } : job;
}
