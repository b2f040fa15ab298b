import { createHmac } from "node:crypto";
import type { Db } from "./database";

/** A set of users that can be asked about, but that need not list their ids. */
export interface UserSet {
  readonly size: number;
  has(userId: string): boolean;
}

/** The user whose id is forgotten, and the event dataset and its count of deletions at that time. */
interface Forgetting {
  readonly eventDatasetId: string;
  readonly userId: string;
  readonly deletions: number;
}

/**
 * Writes a tombstone for a user. `dropNeedless` removes it again if no model needs it: only then is it known that no job
 * has read the user's data just before the deletion.
 */
export async function forget(db: Db, { eventDatasetId, userId, deletions }: Forgetting): Promise<void> {
  const user_id = hashOf(userId, await hashKey(db));
  await db
    .insertInto("forgotten_users")
    .values({ event_dataset_id: eventDatasetId, user_id, deletions, hashed: 1 })
    .onConflict((on) => on.columns(["event_dataset_id", "user_id"]).doUpdateSet({ deletions, hashed: 1 }))
    .execute();
}

/** Whether any job runs. It may have read events that are deleted by now. */
async function isAnyRunning(db: Db): Promise<boolean> {
  const jobs = db.selectFrom("jobs").select("number").where("status", "=", "RUNNING");
  return (await jobs.where("finished_ts", "is", null).limit(1).executeTakeFirst()) !== undefined;
}

/** The users whom a model must not know, after it has seen so many deletions. */
export async function forgottenSince(db: Db, eventDatasetId: string, seen: number): Promise<HashedUsers> {
  const rows = await db
    .selectFrom("forgotten_users")
    .select(["user_id", "hashed"])
    .where("event_dataset_id", "=", eventDatasetId)
    .where("deletions", ">", seen)
    .execute();
  const key = rows.length > 0 ? await hashKey(db) : "";
  return new HashedUsers(
    key,
    rows.map(({ user_id, hashed }) => (hashed ? user_id : hashOf(user_id, key))),
  );
}

/** Users of whom only keyed hashes are known. */
export class HashedUsers implements UserSet {
  private readonly hashes: ReadonlySet<string>;

  constructor(
    private readonly key: string,
    hashes: Iterable<string>,
  ) {
    this.hashes = new Set(hashes);
  }

  get size(): number {
    return this.hashes.size;
  }

  has(userId: string): boolean {
    return this.size > 0 && this.hashes.has(hashOf(userId, this.key));
  }

  /** The hash of any user, and the hashes of these users, for callers that look for them among many. */
  get lookup(): { readonly hashOf: (userId: string) => string; readonly hashes: Iterable<string> } {
    return { hashOf: (userId) => hashOf(userId, this.key), hashes: this.hashes };
  }
}

/** Tombstones outlive the user's data, so they must not name the user. */
function hashOf(userId: string, key: string): string {
  return createHmac("sha256", key).update(userId).digest("base64url");
}

/** The same in every process and thread, and after a restore: the models of a backup come with its tombstones. */
async function hashKey(db: Db): Promise<string> {
  const { id } = await db.selectFrom("instance").select("id").executeTakeFirstOrThrow();
  return id;
}

/** How often events of a dataset were deleted or users forgotten in it, also after the dataset was deleted. */
export async function forgettingsOf(db: Db, eventDatasetId: string): Promise<number> {
  const dataset = await db
    .selectFrom("datasets")
    .select("deletions")
    .where("id", "=", eventDatasetId)
    .executeTakeFirst();
  return dataset?.deletions ?? 0;
}

/** The models whose files may still hold a forgotten user. */
export async function modelsWithForgotten(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom("models")
    .innerJoin("projects", "projects.id", "models.project_id")
    .select("models.id")
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("forgotten_users")
          .select("forgotten_users.user_id")
          .whereRef("forgotten_users.event_dataset_id", "=", "projects.event_dataset_id")
          .whereRef("forgotten_users.deletions", ">", "models.seen_deletions")
          .whereRef("forgotten_users.deletions", ">", "models.forgotten_until"),
      ),
    )
    .orderBy("models.number")
    .execute();
  return rows.map(({ id }) => id);
}

/** Drops the tombstones that no model needs, and hashes the ids in those that an earlier version wrote. */
export async function tidyTombstones(db: Db): Promise<void> {
  await dropNeedless(db);
  const named = await db.deleteFrom("forgotten_users").where("hashed", "=", 0).returningAll().execute();
  if (named.length === 0) return;
  const key = await hashKey(db);
  for (const row of named)
    await db
      .insertInto("forgotten_users")
      .values({ ...row, user_id: hashOf(row.user_id, key), hashed: 1 })
      .onConflict((on) => on.columns(["event_dataset_id", "user_id"]).doNothing())
      .execute();
}

/** Drops the tombstones of users whom no model knew when it was trained. */
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
