import { sql } from "kysely";
import { version } from "../../package.json";
import type { Db, Store } from "./database";

/** What a process does: answer calls, run jobs, or both. */
export type Role = "api" | "worker" | "all";

/** How often a process gives a sign of life, and how long it counts as alive without one. */
export const beatMs = 2000;
const aliveMs = 3 * beatMs;

const nowInDatabase = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** The processes that work on a database of PostgreSQL now. */
export function livingProcesses(db: Db): Promise<{ id: string; role: string }[]> {
  return db
    .selectFrom("processes")
    .select(["id", "role"])
    .where("seen_ts", ">=", sql<number>`${nowInDatabase} - ${sql.lit(aliveMs)}`)
    .execute();
}

/** The processes that work on one database, each of which gives a sign of life from time to time. */
export class Processes {
  /** How many answer calls; this one counts itself. */
  apis = 1;
  private beating: Promise<void> = Promise.resolve();
  private hasLeft = false;

  constructor(
    private readonly store: Store,
    private readonly id: string,
    private readonly role: Role,
  ) {}

  /** Gives a sign of life and counts the others. */
  async beat(): Promise<void> {
    if (this.hasLeft) return;
    this.beating = this.giveSign();
    await this.beating;
  }

  private async giveSign(): Promise<void> {
    const now = nowInDatabase;
    const { db } = this.store;
    await db
      .insertInto("processes")
      .values({ id: this.id, role: this.role, version, seen_ts: now })
      .onConflict((on) => on.column("id").doUpdateSet({ seen_ts: now }))
      .execute();
    await db
      .deleteFrom("processes")
      .where("seen_ts", "<", sql<number>`${now} - ${sql.lit(aliveMs)}`)
      .execute();
    const { apis } = await db
      .selectFrom("processes")
      .select((of) => of.fn.countAll<number>().as("apis"))
      .where("role", "!=", "worker")
      .executeTakeFirstOrThrow();
    this.apis = Math.max(1, apis);
  }

  /** Says that this process is gone. */
  async leave(): Promise<void> {
    this.hasLeft = true;
    await this.beating.catch(() => undefined);
    await this.store.db.deleteFrom("processes").where("id", "=", this.id).execute();
  }
}
