import { sql } from "kysely";
import { version } from "../../package.json";
import type { Db, Store } from "./database";
import { countRows } from "./find";
import { databaseTime } from "./time";

/** Role of a process: serve the API, run jobs, or both. */
export type Role = "api" | "worker" | "all";

/** Interval of heartbeats, and how long a process counts as alive without one. */
export const beatMs = 2000;
const aliveMs = 3 * beatMs;

/** Returns the processes that use a PostgreSQL database now. */
export function livingProcesses(db: Db): Promise<{ id: string; role: string }[]> {
  return db
    .selectFrom("processes")
    .select(["id", "role"])
    .where("seen_ts", ">=", sql<number>`${databaseTime} - ${sql.lit(aliveMs)}`)
    .execute();
}

/** Writes the heartbeat of a process. */
export async function writeHeartbeat(
  db: Db,
  process: { readonly id: string; readonly role: Role },
): Promise<void> {
  await db
    .insertInto("processes")
    .values({ ...process, version, seen_ts: databaseTime })
    .onConflict((on) => on.column("id").doUpdateSet({ seen_ts: databaseTime }))
    .execute();
}

/** Registers this process in the database by heartbeats, and counts the API processes that use the database. */
export class Processes {
  /** Number of API processes, including this one. */
  apis = 1;
  private beating: Promise<void> = Promise.resolve();
  private hasLeft = false;

  constructor(
    private readonly store: Store,
    private readonly id: string,
    private readonly role: Role,
  ) {}

  /**
   * Writes the heartbeat of this process, removes processes without a recent heartbeat, and counts the API processes.
   */
  async beat(): Promise<void> {
    if (this.hasLeft) return;
    this.beating = this.beatAndCount();
    await this.beating;
  }

  private async beatAndCount(): Promise<void> {
    const { heartbeat: db } = this.store;
    await writeHeartbeat(db, { id: this.id, role: this.role });
    await db
      .deleteFrom("processes")
      .where("seen_ts", "<", sql<number>`${databaseTime} - ${sql.lit(aliveMs)}`)
      .execute();
    const apis = db.selectFrom("processes").select("id").where("role", "!=", "worker");
    this.apis = Math.max(1, await countRows(db, apis));
  }

  /** Removes this process from the list when it closes. */
  async leave(): Promise<void> {
    this.hasLeft = true;
    await this.beating.catch(() => undefined);
    await this.store.db.deleteFrom("processes").where("id", "=", this.id).execute();
  }
}
