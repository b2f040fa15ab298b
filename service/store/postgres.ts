import { type Dialect, PostgresDialect, type PostgresPool } from "kysely";
import type pg from "pg";
import { ServiceError } from "../base/error";

/** What a connection may do. */
export interface Limits {
  /** How long its transaction may pause between two statements. */
  readonly pausedTransactionMs?: number;
  /** How many there are at most; a thread and a place of files use one or two. */
  readonly connections?: number;
  /** How long a statement may take before it is broken off; as long as it likes unless given. */
  readonly statementMs?: number;
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
  const { pausedTransactionMs = 0, connections = 2, statementMs = 0 } = limits;
  const { Pool, types } = driver();
  const pool = new Pool({
    ...connection(url),
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
  return new PostgresDialect({ pool: namingStatements(pool) });
}

const [int8, numeric] = [20, 1700];

/**
 * A statement that begins with a name in a comment is planned once for each connection. Only those that are called most
 * have one, for the plan of `select *` would break when a newer version adds a column.
 */
function namingStatements(pool: pg.Pool): PostgresPool {
  return {
    end: () => pool.end(),
    connect: async () => {
      const client = await pool.connect();
      let lost: Error | undefined;
      return {
        release: () => client.release(lost),
        query: (async (text: string, values: readonly unknown[]) => {
          // A rollback would wait for the same answer.
          if (lost) throw lost;
          const name = /^\/\* ([\w-]+) \*\//.exec(text)?.[1];
          try {
            return await client.query({ text, values: [...values], ...(name && { name }) });
          } catch (error) {
            if ((error as Error).message === noAnswer) lost = error as Error;
            throw error;
          }
        }) as never,
      };
    },
  };
}

/** What `pg` says where no answer came; the connection is of no use any more. */
const noAnswer = "Query read timeout";

/** What PostgreSQL says where two transactions cannot be put into an order. */
export const conflictCode = "40001";

/** Whether a transaction failed only because of others at the same time, so that it can be carried out anew. */
export function isConflict(error: unknown): boolean {
  const deadlock = "40P01";
  const code = codeOf(error);
  // In a folder only `recommender clients` writes beside the service.
  return code === conflictCode || code === deadlock || code.startsWith("SQLITE_BUSY");
}

/** The error that a caller gets where the database cannot be reached, or takes too long. */
export function unreachable(error: unknown): ServiceError | undefined {
  const { message } = (error ?? {}) as { message?: string };
  const brokenOff = "57014";
  if (codeOf(error) === brokenOff)
    return new ServiceError(
      "UNAVAILABLE",
      "The database took too long, so that the call was broken off and has changed nothing; call again. " +
        "If that goes on, look for overload and for locks (pg_stat_activity).",
      { headers: { "retry-after": "5" } },
    );
  const lost = /^(08|57P|53[23]|25P03)|^E(CONN|PIPE|TIMEDOUT|AI_AGAIN|NOTFOUND)/.test(codeOf(error));
  if (
    !lost &&
    !/^(Connection terminated|timeout exceeded when trying to connect|Client has encountered|Query read timeout)/.test(
      message ?? "",
    )
  )
    return undefined;
  return new ServiceError(
    "UNAVAILABLE",
    "The database cannot be reached at the moment, so that the call may or may not have been carried out; call again.",
    { headers: { "retry-after": "1" } },
  );
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? "");
}
