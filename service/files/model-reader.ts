import type { FileHandle } from "node:fs/promises";
import { type ServableModel, servable } from "../algorithms";
import type { UserSet } from "../store/forgotten";
import { decodeFirstVersion, isFirstVersion } from "./format/first-version";
import { decodeModel, openModel, type Stored, type StoredModel } from "./format/model";
import { decodeRow, type StoredRow } from "./format/pairs";
import { FormatError } from "./format/sections";
import { servableWithout, withoutUsers } from "./without-users";

/** Reads a model from its open file. */
export interface ModelReader {
  /** Whether version 0.1.0 wrote the file. */
  readonly isFirstVersion: boolean;
  /** Reads the model with all of its pairs. */
  model(): Promise<StoredModel>;
  /** Reads the model without forgotten users, and prepares it for serving. */
  servable(forgotten: UserSet): Promise<Stored<ServableModel>>;
  /** Returns the items of a user and their times, given the user's row at the training. Undefined if the user was removed. */
  row(row: number): Promise<StoredRow | undefined>;
}

/**
 * Returns the reader for the format of a file. Files of 0.1.0 are only safe to read if nobody else writes to the
 * storage.
 */
export async function modelReader(file: FileHandle, isTrusted: boolean): Promise<ModelReader> {
  if (!(await isFirstVersion(file)))
    return {
      isFirstVersion: false,
      model: () => decodeModel(file),
      servable: async (forgotten) => servableWithout(await openModel(file), forgotten),
      row: (row) => decodeRow(file, row),
    };
  if (!isTrusted)
    throw new FormatError(
      "is in the format of version 0.1.0, which can only be read from a data directory, not from a bucket or a database",
      "Train another model and delete this one, or move the data directory with `recommender export` and `restore`.",
    );
  return {
    isFirstVersion: true,
    model: () => decodeFirstVersion(file),
    servable: async (forgotten) => {
      const stored = withoutUsers(await decodeFirstVersion(file), forgotten);
      return { ...stored, model: servable(stored.model) };
    },
    row: async (row) => {
      const { start, index } = (await decodeFirstVersion(file)).model.interactions;
      return { items: [...index.subarray(start[row], start[row + 1])], steps: [] };
    },
  };
}
