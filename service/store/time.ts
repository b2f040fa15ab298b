import { type RawBuilder, sql } from "kysely";
import { type Db, isPostgres } from "./database";

/** The database's own clock, in milliseconds since 1970. */
export const databaseTime: RawBuilder<number> = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** The time as SQL. Clocks of machines differ, so processes that share a database go by its clock. */
export function timeSql(db: Db, now: number): RawBuilder<number> {
  return isPostgres(db) ? databaseTime : sql.lit(now);
}

/** The time by the database's clock if processes share it, otherwise the given time of this process. */
export async function timeIn(db: Db, now: number): Promise<number> {
  if (!isPostgres(db)) return now;
  const { rows } = await sql<{ now: number }>`select ${databaseTime} as now`.execute(db);
  return rows[0]?.now as number;
}
