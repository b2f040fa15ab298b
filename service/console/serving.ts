import type { Context } from "../handlers/handler";
import { notDeployed } from "../serving/deployed-context";
import { projectOf } from "../store/find";
import type { ServingAnswer } from "./answers";
import { deploymentJobs } from "./jobs";
import { deploymentsOf } from "./overview/overview";
import { modelsById } from "./rows";

/** What serves a project, how it has answered over the last hour, and what served before. */
export async function servingAnswer(context: Context, projectId: string): Promise<ServingAnswer> {
  const { db } = context.store;
  await projectOf(db, projectId);
  const deployment = (await deploymentsOf(context, [projectId])).get(projectId);
  if (!deployment) throw notDeployed(projectId);
  const others = await db
    .selectFrom("deployments")
    .select("project_id")
    .where("project_id", "!=", projectId)
    .limit(1)
    .execute();
  // A call that names no project is answered by the only one there is.
  const keys = others.length === 0 ? [projectId, ""] : [projectId];
  const history = await deploymentJobs(db, projectId);
  const models = await modelsById(
    db,
    history.flatMap(({ modelId }) => modelId ?? []),
  );
  return {
    ...deployment,
    recent: context.recentCalls.of(keys),
    history,
    modelNames: Object.fromEntries([...models].map(([id, { name }]) => [id, name])),
  };
}
