import { sql } from "kysely";
import { type Db, isPostgres } from "../store/database";
import { forgettingsOf, forgottenSince } from "../store/forgotten";
import { readModel, saveModel } from "./models";
import type { Files } from "./places/files";
import { withoutUsers } from "./without-users";

/**
 * Rewrites the file of a model without the users who were forgotten since its training.
 * @returns the count of deletions up to which the file is free of them; undefined if the model is gone.
 */
export function removeForgotten(db: Db, files: Files, modelId: string): Promise<number | undefined> {
  return exclusively(db, modelId, async () => {
    const model = await db
      .selectFrom("models")
      .innerJoin("projects", "projects.id", "models.project_id")
      .select(["models.seen_deletions", "models.forgotten_until", "projects.event_dataset_id"])
      .where("models.id", "=", modelId)
      .executeTakeFirst();
    if (!model) return undefined;
    // Read first: a user who is forgotten after this has a higher count, and the file is rewritten again.
    const until = await forgettingsOf(db, model.event_dataset_id);
    const version = model.forgotten_until;
    const seen = Math.max(model.seen_deletions, version);
    const forgotten = await forgottenSince(db, model.event_dataset_id, seen);
    if (forgotten.size === 0) return seen;
    // Not from a copy on this machine, which may still hold users whom another process has removed.
    const stored = await readModel(files, modelId, { anew: true, version });
    const without = withoutUsers(stored, forgotten);
    if (without !== stored) await saveModel(files, modelId, without);
    return until;
  });
}

/** A lock with two numbers; the first one tells it from the locks of datasets. */
const modelLock = 2;

/** Of two processes that rewrite a file at once, the later one would bring back the users whom the other removed. */
function exclusively<T>(db: Db, modelId: string, work: () => Promise<T>): Promise<T> {
  if (!isPostgres(db)) return work();
  return db.transaction().execute(async (locked) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(modelLock)}, hashtext(${modelId}))`.execute(locked);
    return work();
  });
}
