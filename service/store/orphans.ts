import { notFound, ServiceError } from "../base/error";
import type { Db } from "./database";
import { heldAlgorithmOf, type OrphanRef } from "./holders";

const kinds = { USER_DATASET: "user", ITEM_DATASET: "item" } as const;

/** Returns the name of an object. Throws if it does not exist. */
export async function nameOf(db: Db, { objectType, objectId }: OrphanRef): Promise<string> {
  const name = await findName(db, { objectType, objectId });
  if (name === undefined) {
    const type = objectType.toLowerCase().replace("_", " ");
    throw notFound(type, objectId, "it may have been deleted");
  }
  return name;
}

async function findName(db: Db, { objectType, objectId }: OrphanRef): Promise<string | undefined> {
  const table =
    objectType === "PROJECT" ? "projects" : objectType === "ALGORITHM" ? "algorithms" : "datasets";
  let query = db.selectFrom(table).select("name").where("id", "=", objectId);
  if (objectType === "USER_DATASET" || objectType === "ITEM_DATASET")
    query = query.where("kind" as never, "=", kinds[objectType] as never);
  return (await query.executeTakeFirst())?.name;
}

/** Returns the orphaned objects, oldest first, with their names and the reasons why they cannot be deleted now. */
export async function orphansIn(db: Db) {
  const rows = await db
    .selectFrom("orphans")
    .selectAll()
    .orderBy("orphaned_ts")
    .orderBy("object_id")
    .execute();
  const listed = await Promise.all(
    rows.map(async (row) => {
      const ref = { objectType: row.object_type, objectId: row.object_id };
      const name = await findName(db, ref);
      return name === undefined ? undefined : { ...row, name, blockedBy: await blockerOf(db, ref) };
    }),
  );
  return listed.filter((orphan) => orphan !== undefined);
}

/** Returns the ids of the orphaned objects. */
export async function orphanIds(db: Db): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom("orphans").select("object_id").execute();
  return new Set(rows.map(({ object_id }) => object_id));
}

/** Returns the reason why an object cannot be deleted now, as a sentence, or null if it can. */
async function blockerOf(db: Db, { objectType, objectId }: OrphanRef): Promise<string | null> {
  if (objectType === "ALGORITHM") return null;
  if (objectType === "PROJECT") {
    const deployed = db.selectFrom("deployments").select("job_id").where("project_id", "=", objectId);
    if (await deployed.executeTakeFirst())
      return `It has a live deployment. Run \`recommender shutdown --project ${objectId}\` first.`;
    const unfinished = db
      .selectFrom("jobs")
      .select("id")
      .where("project_id", "=", objectId)
      .where("finished_ts", "is", null);
    const job = await unfinished.executeTakeFirst();
    if (job) return `Its job ${job.id} has not finished. Wait until it has.`;
    const used = await heldAlgorithmOf(db, objectId);
    return used ? `Stack ${used.holder} uses its algorithm ${used.id}.` : null;
  }
  const column = objectType === "USER_DATASET" ? "user_dataset_id" : "item_dataset_id";
  const project = await db
    .selectFrom("projects")
    .select("id")
    .where(column, "=", objectId)
    .executeTakeFirst();
  return project ? `Project ${project.id} uses it. Delete the project first.` : null;
}

/** Throws if an object is not orphaned, or if it cannot be deleted now. */
export async function refuseUnlessDeletable(db: Db, ref: OrphanRef): Promise<void> {
  const { objectType, objectId } = ref;
  await nameOf(db, ref);
  const marked = await db
    .selectFrom("orphans")
    .select("object_id")
    .where("object_type", "=", objectType)
    .where("object_id", "=", objectId)
    .executeTakeFirst();
  if (!marked)
    throw new ServiceError(
      "CONFLICT",
      `${objectId} is not orphaned: a program may use it. Only orphaned objects can be deleted.`,
    );
  const blocked = await blockerOf(db, ref);
  if (blocked) throw new ServiceError("CONFLICT", `Cannot delete ${objectId}. ${blocked}`);
}
