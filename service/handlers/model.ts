import type { FullReply, routes } from "../../contract";
import { ServiceError } from "../base/error";
import { modelName } from "../files/places/files";
import type { Db } from "../store/database";
import { modelOf, projectOf } from "../store/find";
import { dropNeedless } from "../store/forgotten";
import type { Model } from "../store/tables";
import type { Handlers } from "./handler";

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
    // The model is deleted: where its file stays, it goes with those that have no entry.
    await call.files
      .remove(modelName(model.id))
      .catch((error) =>
        call.log.warn({ modelId: model.id, err: error }, "the file of a deleted model stays"),
      );
    return answer(model);
  },
};

async function refuseDeployed(db: Db, { id, project_id }: Model): Promise<void> {
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

function answer(row: Model): FullReply<(typeof routes)["getModel"]> {
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
