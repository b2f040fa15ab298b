import { dirname } from "node:path";
import { type Dialect, SqliteAdapter, SqliteDialect, type SqliteStatement } from "kysely";
import Database from "libsql";
import { ServiceError } from "../base/error";
import { checkpointPages, lateCheckpointPages } from "./write-ahead-log";

/** How a database in a file is opened. */
export interface SqliteOptions {
  /** Whether transactions begin with the lock for writing. */
  readonly writes?: boolean;
  /** Whether a thread copies the log into the database, so commits need not. */
  readonly hasLogThread?: boolean;
}

/** The dialect of a database in a file of this machine. */
export function sqlite(file: string, { writes = false, hasLogThread = false }: SqliteOptions = {}): Dialect {
  const database = new Database(file);
  // Readers never wait for the writer. What was committed is on the disk, whatever happens to the process or the
  // machine: that costs 0.1 to a few milliseconds a call, which is little beside a batch of records.
  database.exec("PRAGMA journal_mode=WAL");
  database.exec("PRAGMA synchronous=FULL");
  // On a Mac, only this flushes the disk's own cache.
  if (process.platform === "darwin") database.exec("PRAGMA fullfsync=1; PRAGMA checkpoint_fullfsync=1");
  // Deleted rows are overwritten with zeros: a user who is forgotten must not be found in the file.
  database.exec("PRAGMA secure_delete=ON");
  // Checkpoints write the pages of the random-key index many times over; rarer ones double the rate of inserts.
  const pages = hasLogThread ? lateCheckpointPages : checkpointPages;
  database.exec(`PRAGMA wal_autocheckpoint=${pages}`);
  // Inserts come to places all over that index. Whoever only reads a table reads it once, in its order.
  database.exec(`PRAGMA cache_size=-${writes ? 65_536 : 8192}`);
  return new TransactionalDialect({ database: withKeptStatements(database, writes) });
}

/** Kysely does not trust SQLite to take back changes of tables; it does, so that a migration is taken whole or not at all. */
class TransactionalDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new (class extends SqliteAdapter {
      override get supportsTransactionalDdl(): boolean {
        return true;
      }
    })();
  }
}

/** The error that a caller gets where the disk is full or broken. */
export function diskError(error: unknown, file: string): ServiceError | undefined {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: string };
  if (!/^SQLITE_(FULL|IOERR|READONLY)/.test(String(code))) return undefined;
  return new ServiceError(
    "UNAVAILABLE",
    `The service cannot write to the disk of ${dirname(file)} (${message}); free space there. Reading goes on.`,
    { headers: { "retry-after": "5" } },
  );
}

const keptStatements = 64;

const nothing: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [][Symbol.iterator](),
};

/** Kysely prepares each query anew, which for an insert of many rows costs more than the insert itself. */
function withKeptStatements(database: Database.Database, writes: boolean) {
  const kept = new Map<string, SqliteStatement>();
  return {
    close: () => {
      database.close();
    },
    prepare: (sql: string): SqliteStatement => {
      // SQLite has already rolled back by itself where the disk was full; saying so would hide that.
      if (sql === "rollback" && !database.inTransaction) return nothing;
      let statement = kept.get(sql);
      if (!statement) {
        // What another process writes after a transaction has read would make it fail for good.
        const text = writes && sql === "begin" ? "begin immediate" : sql;
        statement = database.prepare(text) as unknown as SqliteStatement;
        const oldest = kept.size >= keptStatements ? kept.keys().next().value : undefined;
        if (oldest !== undefined) kept.delete(oldest);
        kept.set(sql, statement);
      }
      return statement;
    },
  };
}
