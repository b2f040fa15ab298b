import { open } from "node:fs/promises";
import { measureExposure, measureHeldOut, withHeldOut } from "../algorithms";
import { JobError } from "../base/job-error";
import { decodeModel, type StoredModel } from "../files/format/model";
import { FormatError } from "../files/format/sections";
import { saveModel } from "../files/models";
import type { Files } from "../files/places/files";
import { unlessMissing } from "../files/places/folder-files";
import { qualityOf } from "./parameters";
import type { Trained } from "./train";
import { digestOf, type TrainingData } from "./training-data";

/** Taking over the model that a command has written, as a thread carries it out. */
export interface TrainedModelTask {
  readonly kind: "TRAINED_MODEL";
  /** Where the command has put it. */
  readonly file: string;
  readonly data: TrainingData;
  /** Under which it is kept. */
  readonly modelId: string;
}

/** Checks a model that a command has written, measures it on what the command never saw, and keeps it. */
export async function keepTrained(files: Files, { file, data, modelId }: TrainedModelTask): Promise<Trained> {
  const stored = await readTrained(file, data);
  const { model, ...ids } = stored;
  const whole = withHeldOut(model, data.heldOut);
  const report = {
    ...measureHeldOut(model, data.heldOut, data.itemCounts),
    exposure: measureExposure(whole),
  };
  await saveModel(files, modelId, { ...ids, model: { ...whole, report } });
  return {
    report: { chosenParameters: { ...model.parameters }, quality: qualityOf(report) },
    seenDeletions: data.seenDeletions,
  };
}

async function readTrained(file: string, data: TrainingData): Promise<StoredModel> {
  const opened = await unlessMissing(open(file));
  if (!opened)
    throw new JobError(
      "The trainer ended without an error, but wrote no model to the file that RECOMMENDER_MODEL names.",
    );
  try {
    const stored = await decodeModel(opened);
    for (const [table, ids, digest] of [
      ["users.parquet", stored.userIds, data.userIds],
      ["items.parquet", stored.itemIds, data.itemIds],
    ] as const) {
      if (digestOf(ids) !== digest)
        throw new FormatError(`does not have the ids of ${table}, all of them and in their order`);
    }
    return stored;
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new JobError(
      `The model that the trainer wrote cannot be used: it ${error.message}. Mend the trainer; ` +
        "docs/model-format.md says what a model has to be.",
    );
  } finally {
    await opened.close();
  }
}
