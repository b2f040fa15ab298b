import type { FileHandle } from "node:fs/promises";
import { deserialize } from "node:v8";
import type { FoldInRule, TrainedModel } from "../../algorithms";
import type { StoredModel } from "./model";
import { FormatError } from "./sections";

type Ials = Extract<FoldInRule, { rule: "ials" }>;

/** A model as version 0.1.0 stored it. */
interface FirstModel extends Omit<TrainedModel, "foldIn" | "parameters" | "neighbours" | "ranking"> {
  readonly parameters: Omit<Ials, "rule" | "weightScale">;
  readonly weightScale: Ials["weightScale"];
}

/** Whether a file was written by version 0.1.0, in the serialization format of V8. */
export async function isFirstVersion(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, 0);
  return bytesRead === 1 && buffer[0] === 0xff;
}

/** Reads a model of version 0.1.0. V8 does not validate this format, so the file must come from a trusted directory. */
export async function decodeFirstVersion(file: FileHandle): Promise<StoredModel> {
  const bytes = await file.readFile();
  try {
    const { model, ...ids } = deserialize(bytes) as StoredModel & { model: FirstModel };
    const { weightScale, ...rest } = model;
    const { alpha, regularization, regularizationExponent } = model.parameters;
    const rule = { rule: "ials", alpha, regularization, regularizationExponent, weightScale } as const;
    return { ...ids, model: { ...rest, foldIn: rule, neighbours: null, ranking: null } };
  } catch (error) {
    throw new FormatError(`is a damaged file of version 0.1.0 (${(error as Error).message})`);
  }
}
