import type { Properties } from "../../provider/run/state-entry";
import type { DynamicProvider } from "./dynamic-provider";

/** Creates a deployment like the engine: first its job, then the deployment that waits for it. */
export async function deployWith(provider: DynamicProvider, projectId: string, args: Properties) {
  const declared = { name: "live", projectId, qps: 50, rollback: false, ...args };
  const { check, rollback, ...request } = declared as Properties & { check?: unknown };
  const job = await provider.create("DeploymentJob", request);
  const news = { ...declared, submittedJobId: job.id };
  return { job, news, ...(await provider.create("Deployment", news)) };
}

/** Result of a deployment. */
export type Deployed = Awaited<ReturnType<typeof deployWith>>;

/** Changes the models of a deployment like the engine: first its job, then the deployment. */
export async function redeployWith(
  provider: DynamicProvider,
  projectId: string,
  from: Deployed,
  change: Properties,
) {
  const declared: Properties = { ...from.state, ...change };
  const { check, rollback, name, generatorModelId, rankerModelId, qps } = declared;
  const asked = { projectId, name, generatorModelId, qps, ...(rankerModelId ? { rankerModelId } : {}) };
  const job = await provider.update("DeploymentJob", from.job.id, from.job.state, asked);
  const news = { ...asked, rollback, ...(check ? { check } : {}), submittedJobId: job.jobId };
  return { job, news, update: () => provider.update("Deployment", projectId, from.state, news) };
}
