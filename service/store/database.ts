// store/ is the database: its tables, their migrations, and the queries that several directories use.

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Kysely, PostgresAdapter, type RawBuilder, sql, type Transaction } from "kysely";
import { ServiceError } from "../base/error";
import { newId } from "../base/id";
import { isPostgresUrl, withoutPassword } from "./address";
import { migrate, refusePending } from "./migrations";
import { type Limits, postgres } from "./postgres";
import { conflictCode, isConflict, isDiskFull, isOutage, unreachable } from "./postgres-errors";
import { diskError, type SqliteOptions, sqlite } from "./sqlite";
import type { Tables } from "./tables";
import { scrub } from "./write-ahead-log";

/** A way to the tables, inside a transaction or not. */
export type Db = Kysely<Tables>;

/** The open database of a service. */
export interface Store {
  /** The file of the database, or its address in PostgreSQL. */
  readonly place: string;
  /** Whether other processes work with the same database. */
  readonly shared: boolean;
  /** Made once with the data. */
  readonly instanceId: string;
  /** For reading, so that no reader waits for a transaction; writes go through the two below. */
  readonly db: Db;
  /**
   * For heartbeats: a separate connection in PostgreSQL that gives up after 3 s. Neither calls under load nor a
   * connection that hangs after an outage keep a process from renewing its leases.
   */
  readonly pulse: Db;
  /** Runs an exclusive transaction: one at a time in all processes, so data that it has read cannot change until it commits. */
  transaction<T>(work: Work<T>): Promise<T>;
  /** Runs a transaction concurrently with others, for records. */
  concurrently<T>(work: Work<T>): Promise<T>;
  /** Carries out work while this process writes nothing; writes that come meanwhile wait. For an embedded database. */
  holdWrites<T>(work: () => Promise<T>): Promise<T>;
  /** Whether the database refused a write for lack of disk space within the last minute. */
  isFull(): boolean;
  close(): Promise<void>;
}

/** What a transaction does; it may have to be done anew, so nothing else may come of it. */
type Work<T> = (db: Transaction<Tables>) => Promise<T>;

/** Whether a way to the tables leads to PostgreSQL. */
export function isPostgres(db: Db): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** A way of its own to an existing database, as each thread has; for reading unless it says otherwise. */
export function connect(place: string, options: Limits & SqliteOptions = {}): Db {
  return new Kysely<Tables>({
    dialect: isPostgresUrl(place) ? postgres(place, options) : sqlite(place, options),
  });
}

/** Longer than a transaction or a statement of a call takes: what hangs must not keep all others waiting. */
const ofCalls: Limits = { pausedTransactionMs: 5000, statementMs: 30_000 };
const ofPulse: Limits = { statementMs: 3000, connectMs: 3000, connections: 1 };

/** How a store is opened. */
export interface Opening {
  readonly limits?: Limits;
  /** Written before anything else is done with the store, in the transaction that a restore waits for. */
  readonly arrive?: (db: Db) => Promise<unknown>;
  /** Whether a thread copies the log of an embedded database into it, so commits need not. */
  readonly hasLogThread?: boolean;
}

/** Opens the database, made first where there is none, and brings its tables up to date. */
export function openStore(place: string, opening: Opening = {}): Promise<Store> {
  return retrying(() => open(place, opening, (db) => migrate(db)));
}

/** Opens a database as it is; fails if its tables are not those of this version. */
export function openMigratedStore(place: string): Promise<Store> {
  return retrying(() => open(place, {}, (db) => refusePending(db, place)));
}

async function open(
  place: string,
  { limits: given = ofCalls, arrive, hasLogThread = false }: Opening,
  ready: (db: Db) => Promise<void>,
): Promise<Store> {
  const shared = isPostgresUrl(place);
  const limits = { ...given, primaryOnly: true };
  const instanceId = await prepare(place, ready, arrive).catch((error) => {
    throw shared ? unusable(error, place) : error;
  });
  const reader = connect(place, { ...limits, connections: 10 });
  // Calls that wait for each other must not take the connections of those that need not, nor the other way round.
  const records = connect(place, { ...limits, connections: 4, writes: true, hasLogThread });
  const control = shared ? connect(place, { ...limits, connections: 2, writes: true }) : records;
  const pulse = shared ? connect(place, { ...ofPulse, primaryOnly: true, writes: true }) : records;
  let refusedAt = Number.NEGATIVE_INFINITY;
  const by =
    (db: Db): Store["concurrently"] =>
    (work) =>
      runTransaction(db, work).catch((error) => {
        if (isDiskFull(error)) refusedAt = performance.now();
        return refuse(error, place);
      });
  return {
    place,
    shared,
    instanceId,
    db: reader,
    pulse,
    isFull: () => performance.now() - refusedAt < fullMs,
    concurrently: by(records),
    transaction: (work) => by(control)((db) => lockExclusively(db).then(() => work(db))),
    // An embedded database has one connection for writing, so whoever holds it is alone.
    holdWrites: (work) => records.connection().execute(work),
    close: async () => {
      // A clean stop leaves no log behind that holds deleted rows.
      if (!shared) await scrub(records).catch(() => false);
      for (const db of new Set([reader, records, control, pulse])) await db.destroy();
    },
  };
}

/** How long a full disk is reported after the last write that failed for it. */
const fullMs = 60_000;

/** Gives the id of the instance once its tables are ready; a migration or a restore may take its time. */
async function prepare(
  place: string,
  ready: (db: Db) => Promise<void>,
  arrive: Opening["arrive"],
): Promise<string> {
  const db = connect(place, { writes: true, primaryOnly: true });
  try {
    await ready(db);
    // A process that was killed leaves the log behind, with rows that were deleted since. On a full disk it stays.
    if (!isPostgresUrl(place))
      await scrub(db).catch((error) => {
        if (!diskError(error, place)) throw error;
      });
    return await runTransaction(db, async (all) => {
      await lockExclusively(all);
      const id = await instanceOf(all);
      await arrive?.(all);
      return id;
    });
  } finally {
    await db.destroy();
  }
}

/** The database cannot be used; the message names it. */
class UnusableDatabaseError extends Error {}

/** Names the database in an error that the database itself or the way to it reports. */
export function unusable(error: unknown, place: string): unknown {
  const { code, message } = error as { code?: unknown; message?: string };
  if (error instanceof UnusableDatabaseError || error instanceof ServiceError) return error;
  if (typeof code !== "string" && !isOutage(error)) return error;
  return new UnusableDatabaseError(
    `The database ${withoutPassword(place)} cannot be used (${message || code}); start it, or correct its address.`,
    { cause: error },
  );
}

const mostTries = 20;

function runTransaction<T>(db: Db, work: Work<T>): Promise<T> {
  return retrying(() => db.transaction().execute(work));
}

/** What failed only because of others is tried again. */
async function retrying<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || tries === mostTries) throw error;
      await sleep(Math.random() * 5 * tries);
    }
  }
}

/** A transaction must be carried out anew, because of what others did meanwhile. */
export class ConflictError extends Error {
  readonly code = conflictCode;
}

function refuse(error: unknown, place: string): never {
  throw unreachable(error) ?? diskError(error, place) ?? error;
}

/** Any number that nobody else takes a lock on in this database. */
const controlLock = 7_146_282_301;

/** Waits until no other such transaction runs in any process; in a folder, none does. */
async function lockExclusively(db: Db): Promise<void> {
  if (isPostgres(db)) await sql`select pg_advisory_xact_lock(${sql.lit(controlLock)})`.execute(db);
}

async function instanceOf(db: Db): Promise<string> {
  const known = await db.selectFrom("instance").select(["id", "tombstone_key"]).executeTakeFirst();
  const tombstone_key = known?.tombstone_key ?? randomBytes(32).toString("base64url");
  if (known && known.tombstone_key === null)
    await db.updateTable("instance").set({ tombstone_key }).execute();
  if (known) return known.id;
  const id = newId("instance");
  await db.insertInto("instance").values({ id, tombstone_key }).execute();
  return id;
}

/** What all processes of a database sign tokens and addresses with, made once. */
export async function signingSecret(store: Store): Promise<string> {
  const made = randomBytes(24).toString("base64url");
  return store.transaction(async (db) => {
    const { signing_secret } = await db
      .updateTable("instance")
      .set((of) => ({ signing_secret: of.fn.coalesce("signing_secret", of.val(made)) }))
      .returning("signing_secret")
      .executeTakeFirstOrThrow();
    return signing_secret as string;
  });
}

/**
 * A column whose index is not to be used (the unary plus hides it from SQLite's planner, and PostgreSQL takes it too):
 * in a walk along another key, SQLite would fetch all rows of a dataset and sort them, for each page anew.
 */
export function unindexed(column: string): RawBuilder<number> {
  return sql<number>`+${sql.ref(column)}`;
}
