import { dirname } from "node:path";
import { type Dialect, SqliteAdapter, SqliteDialect, type SqliteStatement } from "kysely";
import Database from "libsql";
import { ServiceError } from "../base/error";
import { canBeEnded, uninterrupted } from "../base/native-calls";
import { checkpointPages, lateCheckpointPages } from "./write-ahead-log";

/** How a SQLite database is opened. */
export interface SqliteOptions {
  /** Whether transactions take the write lock when they begin. */
  readonly writes?: boolean;
  /** Whether a thread copies the write-ahead log into the database, so commits need not do it. */
  readonly hasLogThread?: boolean;
}

/** Returns the dialect of a SQLite database in a local file. */
export function sqlite(file: string, { writes = false, hasLogThread = false }: SqliteOptions = {}): Dialect {
  const database = uninterrupted(() => open(file, writes, hasLogThread));
  return new TransactionalDialect({ database: withCachedStatements(database, writes) });
}

function open(file: string, writes: boolean, hasLogThread: boolean): Database.Database {
  const database = new Database(file);
  // Readers never wait for the writer, and committed data survives a power loss.
  // This costs 0.1 to a few milliseconds per commit, which is little compared to writing a batch of records.
  database.exec("PRAGMA journal_mode=WAL");
  database.exec("PRAGMA synchronous=FULL");
  // On macOS, only this flushes the cache of the disk.
  if (process.platform === "darwin") database.exec("PRAGMA fullfsync=1; PRAGMA checkpoint_fullfsync=1");
  // Overwrites deleted rows with zeros, because the file must not contain forgotten users.
  database.exec("PRAGMA secure_delete=ON");
  // Each checkpoint writes most pages of the index with random keys. Rarer checkpoints double the rate of inserts.
  const pages = hasLogThread ? lateCheckpointPages : checkpointPages;
  database.exec(`PRAGMA wal_autocheckpoint=${pages}`);
  // Inserts touch pages everywhere in that index. Readers read a table once, in order, so they need little cache.
  database.exec(`PRAGMA cache_size=-${writes ? 65_536 : 8192}`);
  return database;
}

/** Runs each migration in a transaction. Kysely assumes that SQLite cannot roll back schema changes, but it can. */
class TransactionalDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new (class extends SqliteAdapter {
      override get supportsTransactionalDdl(): boolean {
        return true;
      }
    })();
  }
}

/** Returns the response to a caller if the disk is full or broken, or undefined if the error has another cause. */
export function diskError(error: unknown, file: string): ServiceError | undefined {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: string };
  if (!/^SQLITE_(FULL|IOERR|READONLY)/.test(String(code))) return undefined;
  return new ServiceError(
    "UNAVAILABLE",
    `Cannot write to the disk of ${dirname(file)} (${message}). Check the disk and its free space. Reads still work.`,
    { headers: { "retry-after": "5" } },
  );
}

/**
 * Begins a transaction with the write lock. Without the lock, a transaction that reads first fails for good if another
 * process then writes. A prepared statement that fails because the database is busy stays active, so the next read of
 * the connection would never end, and the write-ahead log could not be emptied. `exec` ends the statement.
 */
function beginImmediately(database: Database.Database): SqliteStatement {
  const run = () => {
    uninterrupted(() => database.exec("begin immediate"));
    return { changes: 0, lastInsertRowid: 0 };
  };
  return { ...noStatement, run };
}

const maxCachedStatements = 64;

const noStatement: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [][Symbol.iterator](),
};

/** Completes each call of a statement before the thread ends. */
function completed(statement: SqliteStatement): SqliteStatement {
  return {
    reader: statement.reader,
    all: (parameters) => uninterrupted(() => statement.all(parameters)),
    run: (parameters) => uninterrupted(() => statement.run(parameters)),
    *iterate(parameters) {
      const rows = uninterrupted(() => statement.iterate(parameters));
      try {
        for (;;) {
          const next = uninterrupted(() => rows.next());
          if (next.done) return;
          yield next.value;
        }
      } finally {
        uninterrupted(() => rows.return?.());
      }
    },
  };
}

/** Caches prepared statements. Kysely prepares every query, which takes longer than running an insert of many rows. */
function withCachedStatements(database: Database.Database, writes: boolean) {
  const cache = new Map<string, SqliteStatement>();
  const beginToWrite = beginImmediately(database);
  return {
    close: () => {
      uninterrupted(() => database.close());
    },
    prepare: (sql: string): SqliteStatement => {
      // On a full disk, SQLite has already rolled back. The error of a second rollback would hide the first error.
      if (sql === "rollback" && !uninterrupted(() => database.inTransaction)) return noStatement;
      if (sql === "begin" && writes) return beginToWrite;
      let statement = cache.get(sql);
      if (!statement) {
        statement = uninterrupted(() => {
          const prepared = database.prepare(sql) as unknown as SqliteStatement;
          return canBeEnded ? completed(prepared) : prepared;
        });
        const oldest = cache.size >= maxCachedStatements ? cache.keys().next().value : undefined;
        if (oldest !== undefined) cache.delete(oldest);
        cache.set(sql, statement);
      }
      return statement;
    },
  };
}
