import type { Db } from "./database";
import type { ForgottenUserTable } from "./tables";

/** Records that a user's events are deleted, where a model knows of them. */
export async function forget(db: Db, row: ForgottenUserTable): Promise<void> {
  await db
    .insertInto("forgotten_users")
    .values(row)
    .onConflict((on) => on.columns(["event_dataset_id", "user_id"]).doUpdateSet(row))
    .execute();
  await dropNeedless(db);
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
  // A job that runs may have read events that are deleted by now.
  const running = await db
    .selectFrom("jobs")
    .select("number")
    .where("status", "=", "RUNNING")
    .where("finished_ts", "is", null)
    .limit(1)
    .executeTakeFirst();
  if (running) return;
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
