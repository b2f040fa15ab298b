import { type Kysely, PostgresAdapter, type RawBuilder, sql } from "kysely";
import type { Tables } from "./tables";

/** A connection to the tables, inside a transaction or not. */
export type Db = Kysely<Tables>;

/** Whether the database is PostgreSQL. */
export function isPostgres(db: Db): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * Returns the column `dataset`. For SQLite, a unary plus hides it from the query planner. Otherwise, when paging by
 * `seq`, SQLite would use the index on this column, and fetch and sort all events of the dataset for every page.
 */
export function datasetColumn(db: Db): RawBuilder<number> {
  return isPostgres(db) ? sql.ref<number>("dataset") : sql<number>`+dataset`;
}
