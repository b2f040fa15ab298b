import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { type Db, isPostgres } from "./database";
import { connection, driver } from "./postgres";
import { refuseReader } from "./postgres-pool";

/** What one process tells the others: there is a job to do, or another deployment to serve. */
export type Signal = "jobs" | "deployments";

const channel = "recommender";

/** How often it is checked that the server behind the connection for signals still takes writes. */
const checkMs = 5000;

/** Tells all processes, when the transaction has been committed; a single one has been told by then. */
export async function signal(db: Db, name: Signal): Promise<void> {
  if (isPostgres(db)) await sql`select pg_notify(${channel}, ${name})`.execute(db);
}

/**
 * Hears what other processes tell, until the signal to close. Whatever was told while the connection was lost is made
 * good by telling everything when it is there again.
 */
export async function hear(
  url: string,
  closing: AbortSignal,
  tell: Readonly<Record<Signal, () => void>>,
): Promise<void> {
  while (!closing.aborted) {
    const client = new (driver().Client)(connection(url));
    const lost = new Promise<void>((resolve) => {
      client.on("error", () => resolve());
      client.on("end", () => resolve());
    });
    const end = () => void client.end().catch(() => undefined);
    closing.addEventListener("abort", end);
    // After a failover, nobody signals on the old primary any more.
    const checking = setInterval(() => void refuseReader(client).catch(end), checkMs);
    client.on("notification", ({ payload }) => tell[payload as Signal]?.());
    try {
      await client.connect();
      await refuseReader(client);
      await client.query(`listen ${channel}`);
      for (const name of Object.keys(tell) as Signal[]) tell[name]();
      await lost;
    } catch {
      // Polling goes on meanwhile.
    }
    clearInterval(checking);
    closing.removeEventListener("abort", end);
    await client.end().catch(() => undefined);
    if (!closing.aborted) await sleep(1000, undefined, { signal: closing }).catch(() => undefined);
  }
}
