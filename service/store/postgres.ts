import { type Dialect, PostgresDialect } from "kysely";
import type pg from "pg";
import { pooled } from "./postgres-pool";

/** What a connection may do. */
export interface Limits {
  /** How long its transaction may pause between two statements. */
  readonly pausedTransactionMs?: number;
  /** How many there are at most; a thread and a place of files use one or two. */
  readonly connections?: number;
  /** How long a statement may take before it is broken off; as long as it likes unless given. */
  readonly statementMs?: number;
  /** How long connecting may take; 10 s unless given. */
  readonly connectMs?: number;
  /** Whether it is closed when its server turns out to be a replica or read-only; an export may read from one. */
  readonly primaryOnly?: boolean;
}

/** Loaded where it is used: the embedded service starts sooner without. */
export const driver = (): typeof pg => require("pg");

/** What each connection needs: a host that is gone is noticed within 10 s when dialled, within 20 s while it is to answer. */
export const connection = (url: string): pg.ClientConfig => ({
  connectionString: url,
  application_name: "recommender",
  connectionTimeoutMillis: 10_000,
  keepAlive: true,
  // Node then sends ten probes, one a second.
  keepAliveInitialDelayMillis: 10_000,
});

/** The dialect of a PostgreSQL database, 15 or newer. */
export function postgres(url: string, limits: Limits = {}): Dialect {
  const { pausedTransactionMs = 0, connections = 2, statementMs = 0, primaryOnly = false } = limits;
  const { Pool, types } = driver();
  const pool = new Pool({
    ...connection(url),
    ...(limits.connectMs !== undefined && { connectionTimeoutMillis: limits.connectMs }),
    max: connections,
    idle_in_transaction_session_timeout: pausedTransactionMs,
    // Where no answer comes although the database would have broken off long ago, its host is gone.
    ...(statementMs > 0 && { statement_timeout: statementMs, query_timeout: Math.ceil(statementMs * 1.2) }),
    types: {
      // Counts and times fit into a number; `pg` would give them as texts.
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === int8 || oid === numeric ? Number : types.getTypeParser(oid, format as "text"),
    },
  });
  // A connection that is lost says so to whoever uses it next; the event would end the process.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return new PostgresDialect({ pool: pooled(pool, { primaryOnly }) });
}

const [int8, numeric] = [20, 1700];
