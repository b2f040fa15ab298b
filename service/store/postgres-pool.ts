import { AsyncLocalStorage } from "node:async_hooks";
import type { PostgresPool } from "kysely";
import type pg from "pg";
import { endsConnection, readOnlyCode } from "./postgres-errors";
import { preparedName } from "./prepared";

const abortSignal = new AsyncLocalStorage<AbortSignal>();

/**
 * Runs `work` and cancels its statements in PostgreSQL when the signal is aborted, such as when a browser leaves a
 * page.
 */
export function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return abortSignal.run(signal, work);
}

/** How long after a check a connection is trusted to lead to a primary server. */
const recheckMs = 2000;

const readerCheck =
  "select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as is_reader";

/** Throws if a connection leads to a replica or a read-only server, because its rows may be stale after a failover. */
export async function refuseReader(client: Pick<pg.ClientBase, "query">): Promise<void> {
  const { rows } = await client.query<{ is_reader: boolean }>(readerCheck);
  if (rows[0]?.is_reader)
    throw Object.assign(new Error("The server is a replica or read-only."), { code: readOnlyCode });
}

/**
 * Adapts a pool to Kysely. A connection that reported an outage is closed instead of being used again. Statements that
 * were named with `prepared` are planned once per connection.
 */
export function pooled(pool: pg.Pool, { primaryOnly }: { readonly primaryOnly: boolean }): PostgresPool {
  const checkedAt = new WeakMap<pg.PoolClient, number>();
  const checksClient = new WeakSet<pg.PoolClient>();
  /**
   * Time at which a connection was last found to lead to a replica or read-only server. All others are then checked
   * again.
   */
  let readerFoundAt = Number.NEGATIVE_INFINITY;
  /** Prepares a connection for its next use, with at most one query every two seconds. */
  const prepare = async (client: pg.PoolClient): Promise<void> => {
    if (abortSignal.getStore() && !checksClient.has(client)) {
      checksClient.add(client);
      // Without this setting, PostgreSQL completes statements whose connection was closed. Servers on Windows reject
      // it.
      await client.query("set client_connection_check_interval = 1000").catch(() => undefined);
    }
    const checked = checkedAt.get(client) ?? Number.NEGATIVE_INFINITY;
    const isFresh = checked > readerFoundAt && performance.now() - checked < recheckMs;
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
    // The connection is lost. A rollback would wait for a response that does not come.
    if (lost) throw lost;
    const signal = abortSignal.getStore();
    signal?.throwIfAborted();
    const cancel = () => {
      lost = signal?.reason;
      // PostgreSQL cancels a running statement when its socket closes.
      void (client as unknown as pg.Client).end().catch(() => undefined);
    };
    signal?.addEventListener("abort", cancel);
    const name = preparedName(text);
    try {
      return await client.query({ text, values: [...values], ...(name && { name }) });
    } catch (error) {
      if (!lost && endsConnection(error)) lost = error as Error;
      throw lost ?? error;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  };
  return { release: () => client.release(lost), query: run as never };
}
