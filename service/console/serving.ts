import type { Context } from "../handlers/handler";
import { notDeployed } from "../serving/deployed-context";
import { projectOf } from "../store/find";
import { deploymentsOf } from "./overview/project";
import { jobsOf, modelsById } from "./rows";

/** Returns the live deployment of a project, its traffic in the last hour, and earlier deployments. */
export async function servingResponse(context: Context, projectId: string) {
  const { db } = context.store;
  await projectOf(db, projectId);
  const deployment = (await deploymentsOf(context, [projectId])).get(projectId);
  if (!deployment) throw notDeployed(projectId);
  const { rows: history } = await jobsOf(db, { projectId, type: "DEPLOYMENT", limit: 20 });
  const models = await modelsById(
    db,
    history.flatMap(({ modelId }) => modelId ?? []),
  );
  return {
    ...deployment,
    recent: context.recentCalls.of([projectId]),
    history,
    // Models that still exist.
    modelNames: Object.fromEntries([...models].map(([id, { name }]) => [id, name])),
  };
}
