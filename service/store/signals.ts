import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { type Db, isPostgres } from "./database";
import { connection, driver } from "./postgres";
import { refuseReader } from "./postgres-pool";

/** Notification to all processes of a database: a job was submitted, or a deployment has changed. */
export type Signal = "jobs" | "deployments";

const channel = "recommender";

/** How often to check that the connection still leads to a server that accepts writes. */
const checkMs = 5000;

/** Notifies all processes when the transaction commits. An embedded service has no other processes. */
export async function signal(db: Db, name: Signal): Promise<void> {
  if (isPostgres(db)) await sql`select pg_notify(${channel}, ${name})`.execute(db);
}

/**
 * Listens for notifications until the service closes. Calls all handlers after each new connection, because
 * notifications may have been lost.
 */
export async function listen(
  url: string,
  closing: AbortSignal,
  handlers: Readonly<Record<Signal, () => void>>,
): Promise<void> {
  while (!closing.aborted) {
    const client = new (driver().Client)(connection(url));
    const lost = new Promise<void>((resolve) => {
      client.on("error", () => resolve());
      client.on("end", () => resolve());
    });
    const end = () => void client.end().catch(() => undefined);
    closing.addEventListener("abort", end);
    // After a failover, no process sends notifications through the old primary.
    const checking = setInterval(() => void refuseReader(client).catch(end), checkMs);
    client.on("notification", ({ payload }) => handlers[payload as Signal]?.());
    try {
      await client.connect();
      await refuseReader(client);
      await client.query(`listen ${channel}`);
      for (const name of Object.keys(handlers) as Signal[]) handlers[name]();
      await lost;
    } catch {
      // Until the connection works again, processes find jobs by polling.
    }
    clearInterval(checking);
    closing.removeEventListener("abort", end);
    await client.end().catch(() => undefined);
    if (!closing.aborted) await sleep(1000, undefined, { signal: closing }).catch(() => undefined);
  }
}
