import { type Dialect, PostgresDialect } from "kysely";
import type pg from "pg";
import { pooled } from "./postgres-pool";

/** Limits of the connections to a database. */
export interface Limits {
  /** How long a transaction may be idle between two statements. Unlimited by default. */
  readonly pausedTransactionMs?: number;
  /** Maximum number of connections. Default: 2, which is enough for a thread or a file storage. */
  readonly connections?: number;
  /** How long a statement may take before it is canceled. Unlimited by default. */
  readonly statementMs?: number;
  /** How long connecting may take. Default: 10 s. */
  readonly connectMs?: number;
  /** Whether to reject replicas and read-only servers. False by default, because an export may read from one. */
  readonly primaryOnly?: boolean;
}

/** Loads the driver on first use, because an embedded service starts faster without it. */
export const driver = (): typeof pg => require("pg");

/** Settings of every connection. A dead host is detected within 10 s while connecting, and within 20 s afterwards. */
export const connection = (url: string): pg.ClientConfig => ({
  connectionString: url,
  application_name: "recommender",
  connectionTimeoutMillis: 10_000,
  keepAlive: true,
  // After this delay, Node sends ten probes, one per second.
  keepAliveInitialDelayMillis: 10_000,
});

/** Returns the dialect of a PostgreSQL database, version 15 or newer. */
export function postgres(url: string, limits: Limits = {}): Dialect {
  const { pausedTransactionMs = 0, connections = 2, statementMs = 0, primaryOnly = false } = limits;
  const { Pool, types } = driver();
  const pool = new Pool({
    ...connection(url),
    ...(limits.connectMs !== undefined && { connectionTimeoutMillis: limits.connectMs }),
    max: connections,
    idle_in_transaction_session_timeout: pausedTransactionMs,
    // If no response arrives although the server would have canceled the statement by now, the host is dead.
    ...(statementMs > 0 && { statement_timeout: statementMs, query_timeout: Math.ceil(statementMs * 1.2) }),
    types: {
      // `pg` returns these types as strings, but counts and times fit into a number.
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === int8 || oid === numeric ? Number : types.getTypeParser(oid, format as "text"),
    },
  });
  // The next use of a lost connection fails anyway. Without a listener, the event would end the process.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return new PostgresDialect({ pool: pooled(pool, { primaryOnly }) });
}

const [int8, numeric] = [20, 1700];
