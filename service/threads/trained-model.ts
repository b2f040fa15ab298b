import { open } from "node:fs/promises";
import { measureExposure, measureHeldOut, withHeldOut } from "../algorithms";
import { JobError } from "../base/job-error";
import { decodeModel, type StoredModel } from "../files/format/model";
import { FormatError } from "../files/format/sections";
import { saveModel } from "../files/models";
import { undefinedIfMissing } from "../files/storage/directory-files";
import type { Files } from "../files/storage/files";
import { qualityOf } from "./parameters";
import type { Trained } from "./train";
import { digestOf, type TrainingData } from "./training-data";

/** A model that a trainer command has written, for a thread to check and store. */
export interface TrainedModelTask {
  readonly kind: "TRAINED_MODEL";
  readonly file: string;
  readonly data: TrainingData;
  readonly modelId: string;
}

/** Checks a model that a trainer command has written, measures it on the held-out pairs, and stores it. */
export async function storeTrainedModel(
  files: Files,
  { file, data, modelId }: TrainedModelTask,
  onWait: (reason: string) => void,
): Promise<Trained> {
  const stored = await readTrained(file, data);
  const { model, ...ids } = stored;
  const whole = withHeldOut(model, data.heldOut);
  const report = {
    ...measureHeldOut(model, data.heldOut, data.itemCounts),
    exposure: measureExposure(whole),
  };
  await saveModel(files, modelId, { ...ids, model: { ...whole, report } }, onWait);
  return {
    report: { chosenParameters: { ...model.parameters }, quality: qualityOf(report) },
    seenDeletions: data.seenDeletions,
  };
}

async function readTrained(file: string, data: TrainingData): Promise<StoredModel> {
  const opened = await undefinedIfMissing(open(file));
  if (!opened)
    throw new JobError(
      "The trainer exited without an error, but wrote no model to the file in RECOMMENDER_MODEL. Fix the trainer.",
    );
  try {
    const stored = await decodeModel(opened);
    for (const [table, ids, digest] of [
      ["users.parquet", stored.userIds, data.userIds],
      ["items.parquet", stored.itemIds, data.itemIds],
    ] as const) {
      if (digestOf(ids) !== digest)
        throw new FormatError(`does not contain all ids of ${table} in the same order`);
    }
    return stored;
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new JobError(
      `The model that the trainer wrote cannot be used: it ${error.message}. Fix the trainer; ` +
        "see docs/model-format.md for the format.",
    );
  } finally {
    await opened.close();
  }
}
