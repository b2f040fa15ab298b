import type { FullReply, routes } from "../../contract";
import { ServiceError } from "../base/error";
import { removeModelFile } from "../files/models";
import type { Db } from "../store/database";
import { findDataset, modelOf, projectOf } from "../store/find";
import { dropUnneeded } from "../store/forgotten";
import { countEventsSince } from "../store/newest-events";
import { countRecords } from "../store/shards";
import type { Model } from "../store/tables";
import { trainingsOf } from "../store/trainings";
import type { Handlers } from "./handler";

/** Operations on models. Training jobs create models. */
export const modelHandlers: Handlers<
  "updateModel" | "getModel" | "listModels" | "countModelEvents" | "deleteModel"
> = {
  updateModel: ({ projectId, modelId, name }, call) =>
    call.write(async (db) => {
      const model = await modelOf(db, projectId, modelId);
      await db.updateTable("models").set({ name }).where("id", "=", model.id).execute();
      return answerTo(db, { ...model, name });
    }),

  getModel: async ({ projectId, modelId }, { db }) => answerTo(db, await modelOf(db, projectId, modelId)),

  listModels: async ({ projectId }, { db }) => {
    await projectOf(db, projectId);
    const rows = await db
      .selectFrom("models")
      .selectAll()
      .where("project_id", "=", projectId)
      .orderBy("number")
      .execute();
    const trainings = await trainingsOf(db, rows);
    return { models: rows.map((row) => answer(row, trainings.get(row.id)?.data)) };
  },

  countModelEvents: async ({ projectId, modelId }, { db }) => {
    const model = await modelOf(db, projectId, modelId);
    const { event_dataset_id: datasetId } = await projectOf(db, projectId);
    const dataset = await findDataset(db, "event", datasetId);
    const eventCount = dataset ? await countRecords(db, dataset) : 0;
    const newer =
      dataset && model.seen_seq != null
        ? await countEventsSince(db, dataset.number, model.seen_seq, eventCount)
        : null;
    return {
      projectId,
      modelId,
      createdTs: model.created_ts,
      eventCount,
      newEventCount: newer?.count ?? null,
    };
  },

  deleteModel: async ({ projectId, modelId }, call) => {
    const model = await call.write(async (db) => {
      const found = await modelOf(db, projectId, modelId);
      await refuseDeployed(db, found);
      await db.deleteFrom("models").where("id", "=", found.id).execute();
      await dropUnneeded(db);
      return found;
    });
    await removeModelFile(call, model.id);
    return answerTo(call.db, model);
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
    `The model ${id} is deployed in project ${project_id}. Deploy another model or call /shutdown-deployment first.`,
  );
}

type Answer = FullReply<(typeof routes)["getModel"]>;

async function answerTo(db: Db, row: Model): Promise<Answer> {
  return answer(row, (await trainingsOf(db, [row])).get(row.id)?.data);
}

/** @param trainingData the data of the training job, as JSON */
function answer(row: Model, trainingData = "{}"): Answer {
  return {
    projectId: row.project_id,
    modelId: row.id,
    name: row.name,
    algorithmType: row.algorithm_type,
    // As set on the algorithm. The parameters that the service chose are in the data of the training job.
    algorithmParameters: JSON.parse(row.algorithm_parameters),
    createdTs: row.created_ts,
    quality: (JSON.parse(trainingData) as Pick<Answer, "quality">).quality ?? null,
  };
}
