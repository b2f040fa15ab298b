// store/ is the database: its tables, their migrations, and the queries that several directories use.

import { setTimeout as sleep } from "node:timers/promises";
import { Kysely, type Transaction } from "kysely";
import { ServiceError } from "../base/error";
import { newId } from "../base/id";
import { newSecret } from "../base/secret";
import { isPostgresUrl, withoutPassword } from "./address";
import type { Db } from "./dialect";
import { lockExclusively } from "./locks";
import { migrate, refusePending } from "./migrations";
import { type Limits, postgres } from "./postgres";
import { conflictCode, isConflict, isDiskFull, isOutage, unreachable } from "./postgres-errors";
import { diskError, type SqliteOptions, sqlite } from "./sqlite";
import type { Tables } from "./tables";
import { scrub } from "./write-ahead-log";

export { type Db, datasetColumn, isPostgres } from "./dialect";

/** The open database of a service. */
export interface Store {
  /** The file of the database, or the URL of a PostgreSQL database. */
  readonly location: string;
  /** Whether several processes use the database. True for PostgreSQL. */
  readonly isShared: boolean;
  /** Id of the data, created with the database. */
  readonly instanceId: string;
  /** Connection for reads, which never wait for a transaction. Writes use `exclusively` or `concurrently`. */
  readonly db: Db;
  /**
   * Connection for heartbeats and lease renewals. For PostgreSQL, it is separate and has a timeout of 3 s. So a process
   * keeps its leases under load, and while other connections hang after an outage.
   */
  readonly heartbeat: Db;
  /**
   * Runs a transaction while no process runs another exclusive one. Rows that only exclusive transactions write do not
   * change until it commits.
   */
  exclusively<T>(work: Work<T>): Promise<T>;
  /** Runs a transaction concurrently with others, such as to write records and events. */
  concurrently<T>(work: Work<T>): Promise<T>;
  /** Runs `work` while this process writes nothing: writes wait until it ends. For an embedded database. */
  holdWrites<T>(work: () => Promise<T>): Promise<T>;
  /** Whether a write failed within the last minute because the disk of the database is full. */
  isFull(): boolean;
  close(): Promise<void>;
}

/** Statements of a transaction. They run again after a conflict, so they must have no effect outside the database. */
type Work<T> = (db: Transaction<Tables>) => Promise<T>;

/**
 * Opens a separate connection to an existing database, such as for a thread. Set `writes` if it runs transactions that
 * write.
 */
export function connect(location: string, options: Limits & SqliteOptions = {}): Db {
  return new Kysely<Tables>({
    dialect: isPostgresUrl(location) ? postgres(location, options) : sqlite(location, options),
  });
}

/** Limits that no call should reach. Without them, a hanging transaction would block all others. */
const callLimits: Limits = { pausedTransactionMs: 5000, statementMs: 30_000 };
const heartbeatLimits: Limits = { statementMs: 3000, connectMs: 3000, connections: 1 };

/** How a store is opened. */
export interface Opening {
  readonly limits?: Limits;
  /**
   * Registers this process before it uses the store. Runs in an exclusive transaction, so a restore cannot miss the
   * process.
   */
  readonly register?: (db: Db) => Promise<unknown>;
  /**
   * Whether a thread copies the write-ahead log of an embedded database into the database, so commits need not do it.
   */
  readonly hasLogThread?: boolean;
}

/** Opens the database, creates it if it does not exist, and migrates its tables. */
export function openStore(location: string, opening: Opening = {}): Promise<Store> {
  return retryConflicts(() => open(location, opening, (db) => migrate(db)));
}

/** Opens a database without migrating it. Fails if it lacks tables or was migrated by an incompatible newer version. */
export function openMigratedStore(location: string): Promise<Store> {
  return retryConflicts(() => open(location, {}, (db) => refusePending(db, location)));
}

async function open(
  location: string,
  { limits: given = callLimits, register, hasLogThread = false }: Opening,
  ready: (db: Db) => Promise<void>,
): Promise<Store> {
  const isShared = isPostgresUrl(location);
  const limits = { ...given, primaryOnly: true };
  const instanceId = await prepare(location, ready, register).catch((error) => {
    throw isShared ? unusable(error, location) : error;
  });
  const reader = connect(location, { ...limits, connections: 10 });
  // Exclusive transactions wait for each other. With separate connections, they do not block upserts, and vice versa.
  const records = connect(location, { ...limits, connections: 4, writes: true, hasLogThread });
  const control = isShared ? connect(location, { ...limits, connections: 2, writes: true }) : records;
  const heartbeat = isShared
    ? connect(location, { ...heartbeatLimits, primaryOnly: true, writes: true })
    : records;
  let fullAt = Number.NEGATIVE_INFINITY;
  const transactionsOn =
    (db: Db): Store["concurrently"] =>
    (work) =>
      runInTransaction(db, work).catch((error) => {
        if (isDiskFull(error)) fullAt = performance.now();
        throw unreachable(error) ?? diskError(error, location) ?? error;
      });
  return {
    location,
    isShared,
    instanceId,
    db: reader,
    heartbeat,
    isFull: () => performance.now() - fullAt < fullMs,
    concurrently: transactionsOn(records),
    exclusively: (work) => transactionsOn(control)((db) => lockExclusively(db).then(() => work(db))),
    // An embedded database has only one connection for writes. While it is taken, all writes wait.
    holdWrites: (work) => records.connection().execute(work),
    close: async () => {
      // If the write-ahead log stayed behind after a clean stop, it could contain deleted rows.
      if (!isShared) await scrub(records).catch(() => false);
      for (const db of new Set([reader, records, control, heartbeat])) await db.destroy();
    },
  };
}

/** How long a full disk is reported after the last write that failed because of it. */
const fullMs = 60_000;

/** Migrates or checks the tables, registers the process, and returns the id of the instance. */
async function prepare(
  location: string,
  ready: (db: Db) => Promise<void>,
  register: Opening["register"],
): Promise<string> {
  // No limits: a migration, or a restore that holds the exclusive lock, may take long.
  const db = connect(location, { writes: true, primaryOnly: true });
  try {
    await ready(db);
    // The write-ahead log of a killed process may contain deleted rows. On a full disk, the log cannot be emptied.
    if (!isPostgresUrl(location))
      await scrub(db).catch((error) => {
        if (!diskError(error, location)) throw error;
      });
    return await runInTransaction(db, async (transaction) => {
      await lockExclusively(transaction);
      const id = await instanceOf(transaction);
      await register?.(transaction);
      return id;
    });
  } finally {
    await db.destroy();
  }
}

/** Thrown if a database cannot be used. The message contains its address. */
class UnusableDatabaseError extends Error {}

/** Adds the address of the database to an error of the database server or of the connection. */
export function unusable(error: unknown, location: string): unknown {
  const { code, message } = error as { code?: unknown; message?: string };
  if (error instanceof UnusableDatabaseError || error instanceof ServiceError) return error;
  if (typeof code !== "string" && !isOutage(error)) return error;
  return new UnusableDatabaseError(
    `Cannot use the database ${withoutPassword(location)} (${message || code}). ` +
      "Check that it is running, and that its address and password are correct.",
    { cause: error },
  );
}

const maxTries = 20;

function runInTransaction<T>(db: Db, work: Work<T>): Promise<T> {
  return retryConflicts(() => db.transaction().execute(work));
}

/** Repeats `work` if it fails only because of a concurrent transaction, such as in a deadlock with a migration. */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || tries === maxTries) throw error;
      await sleep(Math.random() * 5 * tries);
    }
  }
}

/** Thrown to run a transaction again, because a concurrent one has changed what it depends on. */
export class ConflictError extends Error {
  readonly code = conflictCode;
}

async function instanceOf(db: Db): Promise<string> {
  const known = await db.selectFrom("instance").select(["id", "tombstone_key"]).executeTakeFirst();
  const tombstone_key = known?.tombstone_key ?? newSecret(32);
  if (known && known.tombstone_key === null)
    await db.updateTable("instance").set({ tombstone_key }).execute();
  if (known) return known.id;
  const id = newId("instance");
  await db.insertInto("instance").values({ id, tombstone_key }).execute();
  return id;
}

/** Returns the secret with which all processes of a shared database sign tokens and download links. Created once. */
export async function signingSecret(store: Store): Promise<string> {
  const created = newSecret();
  return store.exclusively(async (db) => {
    const { signing_secret } = await db
      .updateTable("instance")
      .set((of) => ({ signing_secret: of.fn.coalesce("signing_secret", of.val(created)) }))
      .returning("signing_secret")
      .executeTakeFirstOrThrow();
    return signing_secret as string;
  });
}
