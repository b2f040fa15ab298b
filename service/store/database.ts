// store/ is the database: its tables, their migrations, and the queries that several rooms share.

import { dirname } from "node:path";
import { Kysely, type RawBuilder, SqliteDialect, type SqliteStatement, sql, type Transaction } from "kysely";
import Database from "libsql";
import { ServiceError } from "../base/error";
import { newId } from "../base/id";
import { migrate } from "./migrations";
import type { Tables } from "./tables";

/** A way to the tables, inside a transaction or not. */
export type Db = Kysely<Tables>;

/** The open database of a service. */
export interface Store {
  readonly file: string;
  /** Made once with the data. */
  readonly instanceId: string;
  /** For reading, on a connection of its own, so that no reader waits for a transaction; writes go through `transaction`. */
  readonly db: Db;
  /** Carries out all of the work or nothing; one at a time. */
  transaction<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Opens the database, made first where there is none, and brings its tables up to date. */
export async function openStore(file: string): Promise<Store> {
  const writer = connect(file);
  const instanceId = await migrate(writer)
    .then(() => instanceOf(writer))
    .catch(async (error) => {
      await writer.destroy();
      throw error;
    });
  const reader = connect(file);
  return {
    file,
    instanceId,
    db: reader,
    transaction: (work) =>
      writer
        .transaction()
        .execute(work)
        .catch((error) => {
          throw isDiskError(error) ? diskError(file, error) : error;
        }),
    close: async () => {
      await reader.destroy();
      await writer.destroy();
    },
  };
}

function instanceOf(db: Db): Promise<string> {
  return db.transaction().execute(async (trx) => {
    const known = await trx.selectFrom("instance").select("id").executeTakeFirst();
    if (known) return known.id;
    const id = newId("instance");
    await trx.insertInto("instance").values({ id }).execute();
    return id;
  });
}

function isDiskError(error: unknown): error is Error {
  return /^SQLITE_(FULL|IOERR|READONLY)/.test(String((error as { code?: unknown } | null)?.code));
}

function diskError(file: string, { message }: Error): ServiceError {
  return new ServiceError(
    "UNAVAILABLE",
    `The service cannot write to the disk of ${dirname(file)} (${message}); free space there. Reading goes on.`,
    { headers: { "retry-after": "5" } },
  );
}

/** A connection of its own to an existing database, as each worker has. */
export function connect(file: string): Db {
  const database = new Database(file);
  // Readers never wait for the writer. What was committed is on the disk, whatever happens to the process or the
  // machine: that costs 0.1 to a few milliseconds a call, which is little beside a batch of records.
  database.exec("PRAGMA journal_mode=WAL");
  database.exec("PRAGMA synchronous=FULL");
  // Checkpoints write the pages of the random-key index many times over; rarer ones double the rate of inserts.
  database.exec("PRAGMA wal_autocheckpoint=32000");
  database.exec("PRAGMA cache_size=-65536");
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database: withKeptStatements(database) }) });
}

/**
 * A column whose index is not to be used (the unary plus hides it from SQLite's planner, and PostgreSQL takes it too):
 * in a walk along another key, SQLite would fetch all rows of a dataset and sort them, for each page anew.
 */
export function unindexed(column: string): RawBuilder<number> {
  return sql<number>`+${sql.ref(column)}`;
}

const keptStatements = 64;

const nothing: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [][Symbol.iterator](),
};

/** Kysely prepares each query anew, which for an insert of many rows costs more than the insert itself. */
function withKeptStatements(database: Database.Database) {
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
        statement = database.prepare(sql) as unknown as SqliteStatement;
        const oldest = kept.size >= keptStatements ? kept.keys().next().value : undefined;
        if (oldest !== undefined) kept.delete(oldest);
        kept.set(sql, statement);
      }
      return statement;
    },
  };
}
