import type { Db } from "../store/database";
import { deletionCount, forgottenSince } from "../store/forgotten";
import { withModelLock } from "../store/locks";
import { encodeModel, type StoredModel } from "./format/model";
import { readModel } from "./models";
import { type Files, modelName } from "./storage/files";
import { withoutUsers } from "./without-users";

/**
 * Rewrites the file of a model without the users who were forgotten since its training.
 * @returns the deletion count up to which forgotten users are removed from the file; undefined if the model is deleted
 */
export async function removeForgotten(db: Db, files: Files, modelId: string): Promise<number | undefined> {
  for (;;) {
    try {
      return await withModelLock(db, modelId, (locked) => rewrite(locked, files, modelId));
    } catch (error) {
      if (!(error instanceof SupersededError)) throw error;
    }
  }
}

async function rewrite(db: Db, files: Files, modelId: string): Promise<number | undefined> {
  const model = await db
    .selectFrom("models")
    .innerJoin("projects", "projects.id", "models.project_id")
    .select(["models.seen_deletions", "models.forgotten_until", "projects.event_dataset_id"])
    .where("models.id", "=", modelId)
    .executeTakeFirst();
  if (!model) return undefined;
  // The count is read first. A user who is forgotten later has a higher count, and the file is rewritten again.
  const until = await deletionCount(db, model.event_dataset_id);
  const version = model.forgotten_until;
  const seen = Math.max(model.seen_deletions, version);
  const forgotten = await forgottenSince(db, model.event_dataset_id, seen);
  if (forgotten.size === 0) return seen;
  // Does not use a local copy, which may still contain users whom another process has removed.
  const stored = await readModel(files, modelId, { refresh: true, version });
  const without = withoutUsers(stored, forgotten);
  if (without !== stored) await replace(db, files, { modelId, version }, without);
  return until;
}

/** Thrown if another process has rewritten the file since it was read (optimistic check). */
class SupersededError extends Error {}

/**
 * Replaces the file of a model, unless another process has rewritten it. The check comes after the last byte and before
 * the file gets its name. It uses the connection of the lock, so it fails if the lock was lost. It is not repeated
 * after an outage of the database; housekeeping rewrites the file later.
 */
async function replace(
  db: Db,
  files: Files,
  { modelId, version }: { readonly modelId: string; readonly version: number },
  stored: StoredModel,
): Promise<void> {
  let failure: unknown;
  const refuseOutdated = async () => {
    const row = await db
      .selectFrom("models")
      .select("forgotten_until")
      .where("id", "=", modelId)
      .executeTakeFirst();
    if (row?.forgotten_until !== version) throw new SupersededError();
  };
  const content = async function* () {
    yield* encodeModel(stored);
    await refuseOutdated().catch((error) => {
      failure = error;
      throw error;
    });
  };
  // Storages wrap errors.
  await files.write(modelName(modelId), content()).catch((error) => {
    throw failure ?? error;
  });
}
