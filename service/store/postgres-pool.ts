import { AsyncLocalStorage } from "node:async_hooks";
import type { PostgresPool } from "kysely";
import type pg from "pg";
import { endsConnection, readOnlyCode } from "./postgres-errors";

const abandoned = new AsyncLocalStorage<AbortSignal>();

/** Runs work whose statements in PostgreSQL end when the signal is aborted, such as when a browser leaves a page. */
export function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return abandoned.run(signal, work);
}

/** How long the answer that a server takes writes counts for a connection. */
const checkedMs = 2000;

const readerCheck =
  "select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as is_reader";

/** Fails if the server behind a connection is a replica or read-only: after a failover its rows may be stale. */
export async function refuseReader(client: Pick<pg.ClientBase, "query">): Promise<void> {
  const { rows } = await client.query<{ is_reader: boolean }>(readerCheck);
  if (rows[0]?.is_reader)
    throw Object.assign(new Error("The server is a replica or read-only."), { code: readOnlyCode });
}

/**
 * The connections of a pool as Kysely uses them. A connection that reported an outage is closed instead of being used
 * again. A statement that begins with a name in a comment is planned once for each connection. Only those that are
 * called most have one, for the plan of `select *` would break when a newer version adds a column.
 */
export function pooled(pool: pg.Pool, { primaryOnly }: { readonly primaryOnly: boolean }): PostgresPool {
  const checkedAt = new WeakMap<pg.PoolClient, number>();
  const noticesEnd = new WeakSet<pg.PoolClient>();
  /** When a connection last led to a reader: the others may do so too, whatever their last check said. */
  let readerFoundAt = Number.NEGATIVE_INFINITY;
  /** Prepares a connection for its next use; one query for each connection every two seconds. */
  const prepare = async (client: pg.PoolClient): Promise<void> => {
    if (abandoned.getStore() && !noticesEnd.has(client)) {
      noticesEnd.add(client);
      // Without it PostgreSQL goes on with a statement whose connection was closed. Servers on Windows refuse it.
      await client.query("set client_connection_check_interval = 1000").catch(() => undefined);
    }
    const checked = checkedAt.get(client) ?? Number.NEGATIVE_INFINITY;
    const isFresh = checked > readerFoundAt && performance.now() - checked < checkedMs;
    if (!primaryOnly || isFresh) return;
    try {
      await refuseReader(client);
    } catch (error) {
      readerFoundAt = performance.now();
      throw error;
    }
    checkedAt.set(client, performance.now());
  };
  return {
    end: () => pool.end(),
    connect: async () => {
      const client = await pool.connect();
      try {
        await prepare(client);
      } catch (error) {
        client.release(error as Error);
        throw error;
      }
      return statementsOf(client);
    },
  };
}

function statementsOf(client: pg.PoolClient) {
  let lost: Error | undefined;
  const run = async (text: string, values: readonly unknown[]) => {
    // A rollback would wait for the same answer.
    if (lost) throw lost;
    const signal = abandoned.getStore();
    signal?.throwIfAborted();
    const abandon = () => {
      lost = signal?.reason;
      // Closes the socket of a statement under way, upon which PostgreSQL ends it.
      void (client as unknown as pg.Client).end().catch(() => undefined);
    };
    signal?.addEventListener("abort", abandon);
    const name = /^\/\* ([\w-]+) \*\//.exec(text)?.[1];
    try {
      return await client.query({ text, values: [...values], ...(name && { name }) });
    } catch (error) {
      if (!lost && endsConnection(error)) lost = error as Error;
      throw lost ?? error;
    } finally {
      signal?.removeEventListener("abort", abandon);
    }
  };
  return { release: () => client.release(lost), query: run as never };
}
