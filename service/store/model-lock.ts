import { sql } from "kysely";
import { type Db, isPostgres } from "./database";

/** First key of the advisory locks of models. Those of datasets have 1. */
const modelLock = 2;

/** Runs `work` while no other process rewrites the file of a model. A second one would restore users that `work` removes. */
export function withModelLock<T>(db: Db, modelId: string, work: (locked: Db) => Promise<T>): Promise<T> {
  if (!isPostgres(db)) return work(db);
  return db.transaction().execute(async (locked) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(modelLock)}, hashtext(${modelId}))`.execute(locked);
    return work(locked);
  });
}
