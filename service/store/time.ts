import { type RawBuilder, sql } from "kysely";
import { type Db, isPostgres } from "./database";

/** SQL for the time of the database's clock, in milliseconds since 1970. */
export const databaseTime: RawBuilder<number> = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** Returns SQL for the current time. Clocks of machines differ, so processes that share a database use its clock. */
export function timeSql(db: Db, now: number): RawBuilder<number> {
  return isPostgres(db) ? databaseTime : sql.lit(now);
}

/** Returns the time of the database's clock if processes share the database, otherwise `now`. */
export async function timeIn(db: Db, now: number): Promise<number> {
  if (!isPostgres(db)) return now;
  const { rows } = await sql<{ now: number }>`select ${databaseTime} as now`.execute(db);
  return rows[0]?.now as number;
}
