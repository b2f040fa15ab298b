import { setTimeout as sleep } from "node:timers/promises";
import type { ServableModel } from "../algorithms";
import { JobError } from "../base/job-error";
import type { Db } from "../store/database";
import { forgottenSince, type UserSet } from "../store/forgotten";
import { retryOutages } from "../store/outage";
import type { ProjectData } from "../store/project-data";
import type { Model } from "../store/tables";
import { encodeModel, type Stored, type StoredModel } from "./format/model";
import type { StoredRow } from "./format/pairs";
import { FormatError } from "./format/sections";
import { type ModelReader, modelReader } from "./model-reader";
import type { ServiceContext } from "./service-context";
import {
  abandonedAfterMs,
  type CopyOptions,
  copyName,
  type Files,
  type Listed,
  modelName,
} from "./storage/files";
import { withoutUsers } from "./without-users";

/** A version of a model's file. `version` increases whenever forgotten users are removed from the file. */
export interface ModelVersion {
  readonly modelId: string;
  readonly version: number;
}

/** Identifies a model's file. Can be sent to a thread. */
export interface ModelSource extends ModelVersion {
  /** The file contains no user who was forgotten up to this deletion count of the event dataset. */
  readonly seenDeletions: number;
}

/** Pause between two attempts to save a model during an outage. */
const saveAgainMs = 1000;

/** Attempts between two reports that a model cannot be saved. */
const attemptsPerReport = 30;

/**
 * Saves a model. If the storage is unavailable or full, retries until the thread ends.
 *
 * @param onWait called with the reason of the first failure, and then every half minute
 */
export function saveModel(
  files: Files,
  modelId: string,
  stored: StoredModel,
  onWait: (reason: string) => void,
): Promise<void> {
  let attempts = 0;
  return retryOutages(
    () => files.write(modelName(modelId), encodeModel(stored)),
    (error) => {
      if (attempts++ % attemptsPerReport === 0) onWait((error as Error).message);
      return sleep(saveAgainMs, true);
    },
  );
}

/** Removes users from a model who were forgotten after its training. */
export async function withoutForgotten(
  db: Db,
  stored: StoredModel,
  { events }: ProjectData,
  { seenDeletions }: ModelSource,
): Promise<StoredModel> {
  return withoutUsers(stored, await forgottenSince(db, events.id, seenDeletions));
}

/** Reads a model with all of its pairs. */
export function readModel(files: Files, modelId: string, options: CopyOptions = {}): Promise<StoredModel> {
  return readChecked(files, modelId, options, (reader) => reader.model());
}

/** Reads a model without forgotten users, and prepares it for serving. */
export function readServable(
  files: Files,
  { modelId, version }: ModelVersion,
  forgotten: UserSet,
): Promise<Stored<ServableModel>> {
  return readChecked(files, modelId, { version }, (reader) => reader.servable(forgotten));
}

/** Returns the items of a user and their times, given the user's row at the training. Undefined if the user was removed. */
export function readRow(
  files: Files,
  { modelId, version }: ModelVersion,
  row: number,
): Promise<StoredRow | undefined> {
  return readOnce(files, modelId, { version }, (reader) => reader.row(row));
}

type Read<T> = (reader: ModelReader) => Promise<T>;

/** Reads a model. If the file is damaged, throws an error after which the job is not retried. */
async function readChecked<T>(
  files: Files,
  modelId: string,
  options: CopyOptions,
  read: Read<T>,
): Promise<T> {
  try {
    return await readOnce(files, modelId, options, read).catch((error) => {
      // Perhaps only the local copy is damaged, so the file is downloaded again.
      if (files.isTrusted || !(error instanceof FormatError)) throw error;
      return readOnce(files, modelId, { ...options, refresh: true }, read);
    });
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new JobError(
      `Cannot use the file ${modelName(modelId)} in ${files.label}: it ${error.message}. ${error.remedy}`,
    );
  }
}

async function readOnce<T>(files: Files, modelId: string, options: CopyOptions, read: Read<T>): Promise<T> {
  const file = await files.open(modelName(modelId), options);
  // Not retried: a retry cannot bring back a model that was deleted while the job waited.
  if (!file)
    throw new JobError(
      `There is no file ${modelName(modelId)} in ${files.label}. The model was deleted before the job ran, ` +
        "or it was trained with a different --files. Submit the job with another model.",
    );
  try {
    return await read(await modelReader(file, files.isTrusted));
  } finally {
    await file.close();
  }
}

/**
 * Converts the file of a model from version 0.1.0 to the current format. Returns undefined for models of later
 * versions.
 */
export async function convertedModel(files: Files, name: string): Promise<Iterable<Uint8Array> | undefined> {
  const file = files.isTrusted ? await files.open(name) : undefined;
  if (!file) return undefined;
  try {
    const reader = await modelReader(file, files.isTrusted);
    return reader.isFirstVersion ? encodeModel(await reader.model()) : undefined;
  } finally {
    await file.close();
  }
}

/** Finds the model of a job. Throws if it was deleted. */
export async function modelSource({ store }: ServiceContext, id: string): Promise<ModelSource> {
  const model = await store.db.selectFrom("models").selectAll().where("id", "=", id).executeTakeFirst();
  if (!model)
    throw new JobError(`The model ${id} was deleted before the job ran. Submit the job with another model.`);
  return sourceOf(model);
}

/**
 * Deletes the file of a deleted model. If that fails, a later cleanup deletes it, because the database does not list
 * it.
 */
export async function removeModelFile({ files, log }: ServiceContext, modelId: string): Promise<void> {
  await files
    .remove(modelName(modelId))
    .catch((error) => log.warn({ modelId, err: error }, "the file of a deleted model remains"));
}

/** Returns the source of a model, given its row in the database. */
export function sourceOf(model: Pick<Model, "id" | "seen_deletions" | "forgotten_until">): ModelSource {
  const { id: modelId, seen_deletions, forgotten_until: version } = model;
  return { modelId, seenDeletions: Math.max(seen_deletions, version), version };
}

/**
 * Deletes model files that are a day old at `now` and not in the database, such as those of killed trainings. A younger
 * file may belong to a running training, or its row may be missing only because an outdated database server answered.
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

/** Deletes outdated local copies: the model was deleted, or its file was rewritten without forgotten users. */
export async function removeStaleCopies({ files, store }: ServiceContext): Promise<void> {
  const rows = await store.db.selectFrom("models").select(["id", "forgotten_until"]).execute();
  await files.cleanUpCopies(copyNames(rows));
}

function copyNames(rows: readonly Pick<Model, "id" | "forgotten_until">[]): Set<string> {
  return new Set(rows.map(({ id, forgotten_until }) => copyName(modelName(id), forgotten_until)));
}
