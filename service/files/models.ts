import type { FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type ServableModel, servable } from "../algorithms";
import { JobError } from "../base/job-error";
import type { Db } from "../store/database";
import { forgottenSince, type UserSet } from "../store/forgotten";
import { retryOutages } from "../store/outage";
import type { ProjectData } from "../store/project-data";
import type { Model } from "../store/tables";
import { decodeFirstVersion, isFirstVersion } from "./format/first-version";
import { decodeModel, encodeModel, openModel, type Stored, type StoredModel } from "./format/model";
import { decodeRow } from "./format/pairs";
import { FormatError } from "./format/sections";
import type { ServiceContext } from "./service-context";
import { abandonedAfterMs, copyName, type Files, type Listed, modelName } from "./storage/files";
import { servableWithout, withoutUsers } from "./without-users";

/** A model's file as it is after forgotten users were removed from it; `version` counts up each time. */
export interface ModelVersion {
  readonly modelId: string;
  readonly version: number;
}

/** What a thread needs to read a model. */
export interface ModelSource extends ModelVersion {
  /** The count of deletions up to which its file knows no forgotten user. */
  readonly seenDeletions: number;
}

/** Which copy of a model's file is read. */
type How = NonNullable<Parameters<Files["open"]>[1]>;

/** How long a model waits before it is saved again during an outage of the database. */
const saveAgainMs = 1000;

/** Saves a model. During an outage of the database it tries until its thread is ended, so that no training is wasted. */
export function saveModel(files: Files, modelId: string, stored: StoredModel): Promise<void> {
  return retryOutages(
    () => files.write(modelName(modelId), encodeModel(stored)),
    () => sleep(saveAgainMs, true),
  );
}

/** A model as if it had never known the users whose events were deleted since its training. */
export async function withoutForgotten(
  db: Db,
  stored: StoredModel,
  { events }: ProjectData,
  { seenDeletions }: ModelSource,
): Promise<StoredModel> {
  return withoutUsers(stored, await forgottenSince(db, events.id, seenDeletions));
}

/** Reads a model with all of its pairs. */
export function readModel(files: Files, modelId: string, how: How = {}): Promise<StoredModel> {
  return decoded(files, modelId, how, (file, isFirst) =>
    isFirst ? decodeFirstVersion(file) : decodeModel(file),
  );
}

/** Reads a model as it is served, as if it had never known some users. */
export function readServable(
  files: Files,
  { modelId, version }: ModelVersion,
  forgotten: UserSet,
): Promise<Stored<ServableModel>> {
  return decoded(files, modelId, { version }, async (file, isFirst) => {
    if (!isFirst) return servableWithout(await openModel(file), forgotten);
    const stored = withoutUsers(await decodeFirstVersion(file), forgotten);
    return { ...stored, model: servable(stored.model) };
  });
}

/**
 * The items of the pairs that a model was trained on for one user, by the user's row when it was trained.
 * @returns undefined if the user was removed from the file.
 */
export function readRow(
  files: Files,
  { modelId, version }: ModelVersion,
  row: number,
): Promise<number[] | undefined> {
  return opened(files, modelId, { version }, async (file, isFirst) => {
    if (!isFirst) return decodeRow(file, row);
    const { start, index } = (await decodeFirstVersion(file)).model.interactions;
    return [...index.subarray(start[row], start[row + 1])];
  });
}

/** One that is damaged stays so however often it is read. */
async function decoded<T>(files: Files, modelId: string, how: How, decode: Decode<T>): Promise<T> {
  try {
    try {
      return await opened(files, modelId, how, decode);
    } catch (error) {
      // It may be the copy on this machine that is damaged.
      if (files.isTrusted || !(error instanceof FormatError)) throw error;
      return await opened(files, modelId, { ...how, refresh: true }, decode);
    }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new JobError(
      `The file ${modelName(modelId)} in ${files.label} cannot be used: it ${error.message}. ${error.remedy}`,
    );
  }
}

type Decode<T> = (file: FileHandle, isFirst: boolean) => Promise<T>;

async function opened<T>(files: Files, modelId: string, how: How, decode: Decode<T>): Promise<T> {
  const file = await files.open(modelName(modelId), how);
  // A model that was deleted while a job waited cannot come back by trying again.
  if (!file)
    throw new JobError(
      `There is no file ${modelName(modelId)} in ${files.label}: the model was deleted before the job ran, ` +
        "or the service was started with other --files than when it was trained. Submit the job with another model.",
    );
  try {
    const isFirst = await isFirstVersion(file);
    if (isFirst && !files.isTrusted)
      throw new FormatError(
        "is in the format of version 0.1.0, which can only be read from a data directory, not from a bucket or a database",
        "Train another model and delete this one, or move the data directory with `recommender export` and `restore`.",
      );
    return await decode(file, isFirst);
  } finally {
    await file.close();
  }
}

/** The content of a model that version 0.1.0 wrote, in the format of today; undefined where it has that already. */
export async function convertedModel(files: Files, name: string): Promise<Iterable<Uint8Array> | undefined> {
  // Only a folder of the service's own is trusted with the former format.
  const file = files.isTrusted ? await files.open(name) : undefined;
  try {
    return file && (await isFirstVersion(file)) ? encodeModel(await decodeFirstVersion(file)) : undefined;
  } finally {
    await file?.close();
  }
}

/** What a thread needs to read the model of a job. */
export async function modelSource({ store }: ServiceContext, id: string): Promise<ModelSource> {
  const model = await store.db.selectFrom("models").selectAll().where("id", "=", id).executeTakeFirst();
  if (!model)
    throw new JobError(`The model ${id} was deleted before the job ran; submit the job with another one.`);
  return sourceOf(model);
}

/** The same for a model whose row is known. */
export function sourceOf(model: Pick<Model, "id" | "seen_deletions" | "forgotten_until">): ModelSource {
  const { id: modelId, seen_deletions, forgotten_until: version } = model;
  return { modelId, seenDeletions: Math.max(seen_deletions, version), version };
}

/**
 * Removes the files of models that a kill or a failure left without their entry a day before `now`. A younger one may be
 * of a training that still runs, or of one that this database does not know: a process may talk to an old primary.
 */
export async function removeStrayModels({ files, store }: ServiceContext, now: number): Promise<void> {
  const listed = await files.list("models/model-");
  const rows = await store.db.selectFrom("models").select(["id", "forgotten_until"]).execute();
  const known = new Set(rows.map((row) => modelName(row.id)));
  const isStray = ({ name, writtenTs }: Listed) => !known.has(name) && now - writtenTs >= abandonedAfterMs;
  for (const file of listed) if (isStray(file)) await files.remove(file.name);
  await files.cleanUp();
  await files.cleanUpCopies(copyNames(rows));
}

/** Removes the copies on this machine of models that were deleted, or from which forgotten users were removed. */
export async function removeStaleCopies({ files, store }: ServiceContext): Promise<void> {
  const rows = await store.db.selectFrom("models").select(["id", "forgotten_until"]).execute();
  await files.cleanUpCopies(copyNames(rows));
}

function copyNames(rows: readonly Pick<Model, "id" | "forgotten_until">[]): Set<string> {
  return new Set(rows.map(({ id, forgotten_until }) => copyName(modelName(id), forgotten_until)));
}
