import { createHmac } from "node:crypto";
import type { Selectable } from "kysely";
import type { Db } from "./database";
import type { ForgottenUserTable } from "./tables";

type Tombstone = Selectable<ForgottenUserTable>;

/** A set of users whose ids may be unknown. */
export interface UserSet {
  readonly size: number;
  has(userId: string): boolean;
}

/** A user who is forgotten in an event dataset, and the dataset's count of deletions at that time. */
interface Forgetting {
  readonly eventDatasetId: string;
  readonly userId: string;
  readonly deletions: number;
}

/**
 * Writes a tombstone for a user. `dropUnneeded` later removes it if no model needs it. This cannot be decided now,
 * because a running job may have read the user's data just before the deletion.
 */
export async function forget(db: Db, { eventDatasetId, userId, deletions }: Forgetting): Promise<void> {
  const user_id = hashUser(userId, await hashKeys(db));
  await db
    .insertInto("forgotten_users")
    .values({ event_dataset_id: eventDatasetId, user_id, deletions, hashed: 2 })
    .onConflict((on) => on.columns(["event_dataset_id", "user_id"]).doUpdateSet({ deletions }))
    .execute();
}

/**
 * Whether any job is running. A running job may have read events that were deleted since. An interrupted recommendation
 * job counts as running, because it has chunks that may contain forgotten users.
 */
async function isAnyRunning(db: Db): Promise<boolean> {
  const jobs = db
    .selectFrom("jobs")
    .select("number")
    .where((of) => of.or([of("status", "=", "RUNNING"), of("job_type", "=", "RECOMMENDATION")]));
  return (await jobs.where("finished_ts", "is", null).limit(1).executeTakeFirst()) !== undefined;
}

/** Returns the users who were forgotten after the dataset's count of deletions was `seen`. */
export async function forgottenSince(db: Db, eventDatasetId: string, seen: number): Promise<HashedUsers> {
  const rows = await db
    .selectFrom("forgotten_users")
    .select(["user_id", "hashed"])
    .where("event_dataset_id", "=", eventDatasetId)
    .where("deletions", ">", seen)
    .execute();
  const keys = rows.length > 0 ? await hashKeys(db) : { id: "", secret: "" };
  return new HashedUsers(
    keys,
    rows.map((row) => currentHash(row, keys)),
  );
}

/** A set of users, of which only keyed hashes of the ids are known. */
export class HashedUsers implements UserSet {
  private readonly hashes: ReadonlySet<string>;

  constructor(
    private readonly keys: HashKeys,
    hashes: Iterable<string>,
  ) {
    this.hashes = new Set(hashes);
  }

  get size(): number {
    return this.hashes.size;
  }

  has(userId: string): boolean {
    return this.size > 0 && this.hashes.has(hashUser(userId, this.keys));
  }

  /** The hash function and the hashes, for callers that search for these users among many. */
  get lookup(): { readonly hashOf: (userId: string) => string; readonly hashes: Iterable<string> } {
    return { hashOf: (userId) => hashUser(userId, this.keys), hashes: this.hashes };
  }
}

/** Keys to hash user ids with. They are the same in every process and after a restore. */
interface HashKeys {
  /** Id of the instance, which is public. */
  readonly id: string;
  readonly secret: string;
}

/**
 * Hashes the id of a user for a tombstone, which outlives the user's data and must not identify the user. The secret
 * prevents guessing ids by trial. It is applied to the hash that earlier versions stored, so their tombstones can be
 * converted.
 */
function hashUser(userId: string, keys: HashKeys): string {
  return hmac(hmac(userId, keys.id), keys.secret);
}

/** Converts the hash in a tombstone of any version to the hash of this version. */
function currentHash({ user_id, hashed }: Pick<Tombstone, "user_id" | "hashed">, keys: HashKeys): string {
  if (hashed === 2) return user_id;
  return hashed === 1 ? hmac(user_id, keys.secret) : hashUser(user_id, keys);
}

function hmac(text: string, key: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

async function hashKeys(db: Db): Promise<HashKeys> {
  const { id, tombstone_key } = await db
    .selectFrom("instance")
    .select(["id", "tombstone_key"])
    .executeTakeFirstOrThrow();
  if (tombstone_key === null) throw new Error("The database has no tombstone key. Restart the service.");
  return { id, secret: tombstone_key };
}

/** Returns the count of deletions of an event dataset, even if the dataset is deleted. */
export async function deletionCount(db: Db, eventDatasetId: string): Promise<number> {
  const dataset = await db
    .selectFrom("datasets")
    .select("deletions")
    .where("id", "=", eventDatasetId)
    .executeTakeFirst();
  return dataset?.deletions ?? 0;
}

/** Finds the models whose files may still contain a forgotten user. */
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

/** Deletes tombstones that no model needs, and converts tombstones of earlier versions to the current hash. */
export async function cleanUpTombstones(db: Db): Promise<void> {
  await dropUnneeded(db);
  const earlier = await db.deleteFrom("forgotten_users").where("hashed", "<", 2).returningAll().execute();
  if (earlier.length === 0) return;
  const keys = await hashKeys(db);
  for (const row of earlier)
    await db
      .insertInto("forgotten_users")
      .values({ ...row, user_id: currentHash(row, keys), hashed: 2 })
      .onConflict((on) =>
        on
          .columns(["event_dataset_id", "user_id"])
          .doUpdateSet({ deletions: row.deletions })
          .where("forgotten_users.deletions", "<", row.deletions),
      )
      .execute();
}

/**
 * Deletes the tombstones of users who were forgotten before every model of the dataset was trained. Does nothing while
 * a job is running.
 */
export async function dropUnneeded(db: Db): Promise<void> {
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
