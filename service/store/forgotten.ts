import type { Db } from "./database";
import type { ForgottenUserTable } from "./tables";

/** Records that a user's events are deleted, where a model knows of them, or one that is being made may. */
export async function forget(db: Db, row: ForgottenUserTable): Promise<void> {
  const knowing = await db
    .selectFrom("models")
    .innerJoin("projects", "projects.id", "models.project_id")
    .select("models.id")
    .where("projects.event_dataset_id", "=", row.event_dataset_id)
    .where("models.seen_deletions", "<", row.deletions)
    .limit(1)
    .executeTakeFirst();
  if (!knowing && !(await isAnyRunning(db))) return;
  await db
    .insertInto("forgotten_users")
    .values(row)
    .onConflict((on) => on.columns(["event_dataset_id", "user_id"]).doUpdateSet(row))
    .execute();
}

/** A job that runs may have read events that are deleted by now. */
async function isAnyRunning(db: Db): Promise<boolean> {
  const jobs = db.selectFrom("jobs").select("number").where("status", "=", "RUNNING");
  return (await jobs.where("finished_ts", "is", null).limit(1).executeTakeFirst()) !== undefined;
}

/** The users that a model must not know, given how many deletions its training had seen. */
export async function forgottenSince(db: Db, eventDatasetId: string, seen: number): Promise<Set<string>> {
  const rows = await db
    .selectFrom("forgotten_users")
    .select("user_id")
    .where("event_dataset_id", "=", eventDatasetId)
    .where("deletions", ">", seen)
    .execute();
  return new Set(rows.map((row) => row.user_id));
}

/** Drops the ids of forgotten users that no model knows any more. */
export async function dropNeedless(db: Db): Promise<void> {
  if (await isAnyRunning(db)) return;
  await db
    .deleteFrom("forgotten_users")
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("models")
            .innerJoin("projects", "projects.id", "models.project_id")
            .select("models.id")
            .whereRef("projects.event_dataset_id", "=", "forgotten_users.event_dataset_id")
            .whereRef("models.seen_deletions", "<", "forgotten_users.deletions"),
        ),
      ),
    )
    .execute();
}
