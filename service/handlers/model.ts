import { readdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { FullReply, routes } from "../../contract";
import { notFound, ServiceError } from "../base/error";
import { JobError } from "../base/job-error";
import type { ModelSource } from "../files/model-file";
import type { Context } from "../http/context";
import type { Db } from "../store/database";
import { dropNeedless } from "../store/forgotten";
import type { ModelTable } from "../store/tables";
import type { Handlers } from "./handler";
import { projectOf } from "./project";

/** The operations on models; a training job makes them. */
export const modelHandlers: Handlers<"updateModel" | "getModel" | "listModels" | "deleteModel"> = {
  updateModel: ({ projectId, modelId, name }, call) =>
    call.write(async (db) => {
      const model = await modelOf(db, projectId, modelId);
      await db.updateTable("models").set({ name }).where("id", "=", model.id).execute();
      return answer({ ...model, name });
    }),

  getModel: async ({ projectId, modelId }, { db }) => answer(await modelOf(db, projectId, modelId)),

  listModels: async ({ projectId }, { db }) => {
    await projectOf(db, projectId);
    const rows = await db
      .selectFrom("models")
      .selectAll()
      .where("project_id", "=", projectId)
      .orderBy("number")
      .execute();
    return { models: rows.map(answer) };
  },

  deleteModel: async ({ projectId, modelId }, call) => {
    const model = await call.write(async (db) => {
      const found = await modelOf(db, projectId, modelId);
      await refuseDeployed(db, found);
      await db.deleteFrom("models").where("id", "=", found.id).execute();
      await dropNeedless(db);
      return found;
    });
    rmSync(call.folder.modelFile(model.id), { force: true });
    return answer(model);
  },
};

/** The model of that project and id, or the error that it is not there. */
export async function modelOf(db: Db, projectId: string, id: string): Promise<ModelTable> {
  await projectOf(db, projectId);
  const found = await db
    .selectFrom("models")
    .selectAll()
    .where("id", "=", id)
    .where("project_id", "=", projectId)
    .executeTakeFirst();
  if (!found) {
    throw notFound(
      `model in project ${projectId}`,
      id,
      "train one with /submit-training-job, or see /list-models",
    );
  }
  return found;
}

/** What a thread needs to read the model of a job. */
export async function modelSource({ store, folder }: Context, id: string): Promise<ModelSource> {
  const model = await store.db.selectFrom("models").selectAll().where("id", "=", id).executeTakeFirst();
  if (!model)
    throw new JobError(`The model ${id} was deleted before the job ran; submit the job with another one.`);
  return { file: folder.modelFile(id), seenDeletions: model.seen_deletions };
}

/** Removes the files of models that a kill or a failure left without their entry; not while one is being made. */
export async function removeStrayModels({ folder, store }: Context): Promise<void> {
  const names = readdirSync(dirname(folder.modelFile("any"))).filter((name) => name.startsWith("model-"));
  const trainings = store.db.selectFrom("jobs").select("id").where("job_type", "=", "TRAINING");
  if (await trainings.where("status", "=", "RUNNING").executeTakeFirst()) return;
  const rows = await store.db.selectFrom("models").select("id").execute();
  const known = new Set(rows.map((row) => row.id));
  for (const name of names) if (!known.has(name)) rmSync(folder.modelFile(name), { force: true });
}

async function refuseDeployed(db: Db, { id, project_id }: ModelTable): Promise<void> {
  const deployment = await db
    .selectFrom("deployments")
    .selectAll()
    .where("project_id", "=", project_id)
    .executeTakeFirst();
  if (deployment?.generator_model_id !== id && deployment?.ranker_model_id !== id) return;
  throw new ServiceError(
    "MODEL_DEPLOYED",
    `The model ${id} is deployed in project ${project_id}; deploy another one or call /shutdown-deployment first.`,
  );
}

function answer(row: ModelTable): FullReply<(typeof routes)["getModel"]> {
  return {
    projectId: row.project_id,
    modelId: row.id,
    name: row.name,
    algorithmType: row.algorithm_type,
    // As the algorithm gives them; what the service chose for an empty object stands in the training job's data.
    algorithmParameters: JSON.parse(row.algorithm_parameters),
    createdTs: row.created_ts,
  };
}
