import type { OrphanType } from "../../contract";
import { formatOrigin, type Origin } from "../../contract/origin";
import type { Db } from "./database";

/** An object that can be orphaned. */
export interface OrphanRef {
  readonly objectType: OrphanType;
  readonly objectId: string;
}

/** The holder of an object if its program sent no origin, or if the object is older than the table `holders`. */
const unknown = "";

/** Returns the holder for an origin: its stack, because one stack may use an object in several resources. */
export function holderOf(origin: Origin | undefined): string {
  if (!origin) return unknown;
  const { project, stack } = origin;
  return formatOrigin({ project, stack, resource: "" }).slice(0, -1);
}

/** Records that a stack uses an object. */
export async function addHolder(db: Db, { objectType, objectId }: OrphanRef, holder: string): Promise<void> {
  await db
    .insertInto("holders")
    .values({ object_type: objectType, object_id: objectId, holder })
    .onConflict((on) => on.columns(["object_type", "object_id", "holder"]).doNothing())
    .execute();
}

/** Records that a stack, or the unknown holder, no longer uses an object. Returns the remaining holders. */
export async function removeHolder(db: Db, ref: OrphanRef, holder: string): Promise<string[]> {
  const before = await holdersOf(db, ref);
  const removed = before.includes(holder) ? holder : unknown;
  await db
    .deleteFrom("holders")
    .where("object_type", "=", ref.objectType)
    .where("object_id", "=", ref.objectId)
    .where("holder", "=", removed)
    .execute();
  return before.filter((one) => one !== removed);
}

async function holdersOf(db: Db, { objectType, objectId }: OrphanRef): Promise<string[]> {
  const rows = await db
    .selectFrom("holders")
    .select("holder")
    .where("object_type", "=", objectType)
    .where("object_id", "=", objectId)
    .orderBy("holder")
    .execute();
  return rows.map(({ holder }) => holder);
}

/** Returns the holders that are known stacks. */
export function knownStacks(holders: readonly string[]): string[] {
  return holders.filter((holder) => holder !== unknown);
}

/** Finds an algorithm of a project that a known stack uses. */
export function heldAlgorithmOf(
  db: Db,
  projectId: string,
): Promise<{ readonly id: string; readonly holder: string } | undefined> {
  return db
    .selectFrom("holders")
    .innerJoin("algorithms", "algorithms.id", "holders.object_id")
    .select(["algorithms.id", "holders.holder"])
    .where("holders.object_type", "=", "ALGORITHM")
    .where("holders.holder", "!=", unknown)
    .where("algorithms.project_id", "=", projectId)
    .executeTakeFirst();
}

/** Deletes the orphan marks and holders of deleted objects. */
export async function dropMarks(
  db: Db,
  objectType: OrphanRef["objectType"],
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  for (const table of ["orphans", "holders"] as const)
    await db.deleteFrom(table).where("object_type", "=", objectType).where("object_id", "in", ids).execute();
}
