import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { deserialize, serialize } from "node:v8";
import { itemCounts, selectUsers, type TrainedModel } from "../algorithms";
import { JobError } from "../base/job-error";
import type { Db } from "../store/database";
import { forgottenSince } from "../store/forgotten";
import type { ProjectData } from "../store/project-data";
import type { Basis } from "./basis";
import { writeWhole } from "./folder";

/** A trained model with the ids that its indices stand for. */
export interface StoredModel {
  readonly model: TrainedModel;
  readonly userIds: readonly string[];
  readonly itemIds: readonly string[];
}

/** What a thread needs to read a model. */
export interface ModelSource {
  readonly file: string;
  /** How many deletions of events its training had seen. */
  readonly seenDeletions: number;
}

/** Keeps a model. */
export function saveModel(file: string, stored: StoredModel): void {
  writeWhole(file, serialize(stored));
}

/** Reads a model as if it had never known the users whose events were deleted since. */
export async function loadModel(db: Db, data: ProjectData, source: ModelSource): Promise<StoredModel> {
  // A model that was deleted while a job waited cannot come back by trying again.
  if (!existsSync(source.file))
    throw new JobError("The model was deleted before the job ran; submit the job with another one.");
  const stored = deserialize(readFileSync(source.file)) as StoredModel;
  return withoutUsers(stored, await forgottenSince(db, data.events.id, source.seenDeletions));
}

/** What a thread needs to read the model of a job. */
export async function modelSource({ store, folder }: Basis, id: string): Promise<ModelSource> {
  const model = await store.db.selectFrom("models").selectAll().where("id", "=", id).executeTakeFirst();
  if (!model)
    throw new JobError(`The model ${id} was deleted before the job ran; submit the job with another one.`);
  return { file: folder.modelFile(id), seenDeletions: model.seen_deletions };
}

/** Removes the files of models that a kill or a failure left without their entry; not while one is being made. */
export async function removeStrayModels({ folder, store }: Basis): Promise<void> {
  const names = readdirSync(dirname(folder.modelFile("any"))).filter((name) => name.startsWith("model-"));
  const trainings = store.db.selectFrom("jobs").select("id").where("job_type", "=", "TRAINING");
  if (await trainings.where("status", "=", "RUNNING").executeTakeFirst()) return;
  const rows = await store.db.selectFrom("models").select("id").execute();
  const known = new Set(rows.map((row) => row.id));
  for (const name of names) if (!known.has(name)) rmSync(folder.modelFile(name), { force: true });
}

function withoutUsers(stored: StoredModel, forgotten: ReadonlySet<string>): StoredModel {
  if (forgotten.size === 0) return stored;
  const { model, userIds } = stored;
  const { stride } = model;
  const kept = Uint32Array.from(userIds.keys()).filter((user) => !forgotten.has(userIds[user] as string));
  const userVectors = new Float32Array(kept.length * stride);
  kept.forEach((user, at) => {
    userVectors.set(model.userVectors.subarray(user * stride, (user + 1) * stride), at * stride);
  });
  const interactions = selectUsers(model.interactions, kept);
  const itemVectors = model.itemVectors.slice();
  const [before, after] = [itemCounts(model.interactions), itemCounts(interactions)];
  after.forEach((count, item) => {
    // Only the forgotten users placed it.
    if (count === 0 && before[item]) itemVectors.fill(0, item * stride, (item + 1) * stride);
  });
  return {
    ...stored,
    model: { ...model, users: kept.length, userVectors, itemVectors, interactions },
    userIds: Array.from(kept, (user) => userIds[user] as string),
  };
}
