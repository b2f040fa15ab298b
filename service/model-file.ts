import { existsSync, readFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import type { TrainedModel } from "./algorithms";
import { writeWhole } from "./folder";
import { JobError } from "./job-error";

/** A trained model with the ids that its indices stand for. */
export interface StoredModel {
  readonly model: TrainedModel;
  readonly userIds: readonly string[];
  readonly itemIds: readonly string[];
}

/** Keeps a model. */
export function saveModel(file: string, stored: StoredModel): void {
  writeWhole(file, serialize(stored));
}

/** Reads a model; one that was deleted while a job waited cannot come back by trying again. */
export function loadModel(file: string): StoredModel {
  if (!existsSync(file))
    throw new JobError("The model was deleted before the job ran; submit the job with another one.");
  return deserialize(readFileSync(file)) as StoredModel;
}
