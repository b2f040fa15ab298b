import { formatOrigin, type Origin } from "../../contract/origin";
import { removeModelFile } from "../files/models";
import type { Db } from "../store/database";
import { anyDatasetOf } from "../store/find";
import { dropUnneeded } from "../store/forgotten";
import { addHolder, dropMarks, holderOf, knownStacks, type OrphanRef, removeHolder } from "../store/holders";
import { dropJobUsersOf } from "../store/job-users";
import { nameOf, orphansIn, refuseUnlessDeletable } from "../store/orphans";
import { markDeleted } from "./dataset";
import type { Call, Handlers } from "./handler";
import { originIn } from "./origin";

/**
 * Marks, lists and deletes orphaned objects, which no stack uses any more. These operations are extensions, because the
 * API specification cannot delete such objects.
 */
export const orphanHandlers: Handlers<"markOrphaned" | "listOrphans" | "deleteOrphan"> = {
  markOrphaned: ({ orphaned, ...ref }, call) =>
    call.write(async (db) => {
      await nameOf(db, ref);
      const origin = originIn(call);
      await unmark(db, ref);
      if (!orphaned) {
        await addHolder(db, ref, holderOf(origin));
        return { ...ref, orphaned, heldBy: [] };
      }
      const holders = await removeHolder(db, ref, holderOf(origin));
      if (holders.length > 0) return { ...ref, orphaned: false, heldBy: knownStacks(holders) };
      await db
        .insertInto("orphans")
        .values({
          object_type: ref.objectType,
          object_id: ref.objectId,
          orphaned_ts: call.clock.now(),
          origin: origin ? JSON.stringify(origin) : null,
        })
        .execute();
      return { ...ref, orphaned, heldBy: [] };
    }),

  listOrphans: async (_, { db }) => ({
    orphans: (await orphansIn(db)).map((row) => ({
      objectType: row.object_type,
      objectId: row.object_id,
      name: row.name,
      orphanedTs: row.orphaned_ts,
      orphanedBy: row.origin === null ? null : formatOrigin(JSON.parse(row.origin) as Origin),
      blockedBy: row.blockedBy,
    })),
  }),

  deleteOrphan: async (ref, call) => {
    const models = await call.write(async (db) => {
      await refuseUnlessDeletable(db, ref);
      await dropMarks(db, ref.objectType, [ref.objectId]);
      return remove(db, ref);
    });
    for (const id of models) await removeModelFile(call, id);
    if (ref.objectType.endsWith("DATASET")) call.sweep();
    return ref;
  },
};

async function unmark(db: Db, { objectType, objectId }: OrphanRef): Promise<void> {
  await db
    .deleteFrom("orphans")
    .where("object_type", "=", objectType)
    .where("object_id", "=", objectId)
    .execute();
}

/** Deletes the rows of an object, and returns the ids of the models that were deleted with it. */
async function remove(db: Parameters<Parameters<Call["write"]>[0]>[0], ref: OrphanRef): Promise<string[]> {
  const { objectType, objectId } = ref;
  if (objectType === "ALGORITHM") {
    await db.deleteFrom("algorithms").where("id", "=", objectId).execute();
    return [];
  }
  if (objectType === "PROJECT") {
    const models = await db.deleteFrom("models").where("project_id", "=", objectId).returning("id").execute();
    const algorithms = await db
      .deleteFrom("algorithms")
      .where("project_id", "=", objectId)
      .returning("id")
      .execute();
    await dropMarks(
      db,
      "ALGORITHM",
      algorithms.map(({ id }) => id),
    );
    await dropJobUsersOf(db, objectId);
    for (const table of ["jobs", "stable_addresses"] as const)
      await db.deleteFrom(table).where("project_id", "=", objectId).execute();
    await db.deleteFrom("projects").where("id", "=", objectId).execute();
    await dropUnneeded(db);
    return models.map(({ id }) => id);
  }
  await markDeleted(db, await anyDatasetOf(db, objectId));
  return [];
}
