import { existsSync, readFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { selectUsers, type TrainedModel } from "../algorithms";
import { JobError } from "../base/job-error";
import type { ProjectData } from "../jobs/training";
import type { Db } from "../store/database";
import { forgottenSince } from "../store/forgotten";
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
  return {
    ...stored,
    model: { ...model, users: kept.length, userVectors, interactions },
    userIds: Array.from(kept, (user) => userIds[user] as string),
  };
}
