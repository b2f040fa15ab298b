import { ExpressionError, parse } from "../../expressions/parse";
import { ServiceError } from "../base/error";
import { notDeployed } from "../serving/deployed-context";
import type { Db } from "../store/database";
import { modelOf, projectOf } from "../store/find";
import type { Call, Handlers } from "./handler";
import { submit } from "./job";

/** Submits jobs that recommend items to many users. */
export const recommendationJobHandlers: Handlers<"submitRecommendationJob"> = {
  submitRecommendationJob: async (input, call) => {
    const { projectId, name, modelId, userIds, filterQuery, ...asked } = input;
    if (filterQuery) await checkFilter(filterQuery, projectId, call);
    return submit(call, async (db) => {
      await projectOf(db, projectId);
      const models = await modelsFor(db, projectId, modelId);
      const data = {
        ...models,
        ...asked,
        ...(filterQuery && { filterQuery }),
        ...(userIds && { listedUsers: new Set(userIds).size }),
      };
      return { projectId, jobType: "RECOMMENDATION" as const, name, data, userIds };
    });
  },
};

/** Returns the model of the request, or the models and the rules of the live deployment. */
async function modelsFor(db: Db, projectId: string, modelId: string | undefined): Promise<object> {
  if (modelId !== undefined) {
    await modelOf(db, projectId, modelId);
    return { modelId };
  }
  const live = await db
    .selectFrom("deployments")
    .selectAll()
    .where("project_id", "=", projectId)
    .executeTakeFirst();
  if (!live) throw notDeployed(projectId);
  return {
    generatorModelId: live.generator_model_id,
    rankerModelId: live.ranker_model_id,
    ...(live.rules !== null && { rules: JSON.parse(live.rules) }),
  };
}

/** Rejects an invalid filter. Its attributes are only checked if the project has a deployment, otherwise by the job. */
async function checkFilter(text: string, projectId: string, { serving }: Call): Promise<void> {
  await parse(text).catch((error) => {
    if (!(error instanceof ExpressionError)) throw error;
    const details = [{ path: "filter_query", message: error.message }];
    throw new ServiceError("BAD_REQUEST", "The request is invalid. See `details`.", { details });
  });
  if (!serving.isLoaded(projectId)) return;
  const { filters } = await serving.find(projectId);
  await filters.matching(text, { attributes: async () => undefined });
}
