import { type Kysely, PostgresAdapter, type RawBuilder, sql } from "kysely";
import type { Tables } from "./tables";

/** A connection to the tables, inside a transaction or not. */
export type Db = Kysely<Tables>;

/** Whether the database is PostgreSQL. */
export function isPostgres(db: Db): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * Returns the column `dataset`, hidden from the planner of SQLite by a unary plus. While SQLite pages along `seq`, the
 * index on the column would make it fetch and sort all events of a dataset for every page.
 */
export function datasetColumn(db: Db): RawBuilder<number> {
  return isPostgres(db) ? sql.ref<number>("dataset") : sql<number>`+dataset`;
}
