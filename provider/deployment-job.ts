import { z } from "zod";
import { undefinedIfMissing } from "../client/error-meaning";
import { hasFailed, hasSucceeded, type Job } from "../client/job";
import { isServing } from "../client/serving";
import { deploymentFields, routes } from "../contract";
import { id } from "../contract/field";
import { submitJob } from "./jobs/jobs";
import { readBack } from "./jobs/read-back";
import { lifecycle } from "./lifecycle/lifecycle";
import type { Context } from "./run/context";
import { log } from "./run/engine";
import { type Pinned, pinnedAt } from "./run/pinned";
import type { Properties } from "./run/state-entry";

/** What a deployment is submitted with, as it reaches a lifecycle. */
export type DeploymentState = z.output<typeof deploymentFields>;

/** Submits a deployment; once, should it follow from an earlier job. */
export function submitDeployment(args: DeploymentState, context: Context, follows?: string): Promise<string> {
  return submitJob(context, routes.submitDeploymentJob, requestOf(args), { follows });
}

/** What is declared, with pinned models in place of the program's. */
export function withPinned({ rankerModelId, ...given }: Properties, pinned: Pinned | undefined): Properties {
  return { ...given, ...(pinned ?? (rankerModelId !== undefined && { rankerModelId })) };
}

/** The request of a deployment. */
export function requestOf({ projectId, name, generatorModelId, rankerModelId, qps }: DeploymentState) {
  return { projectId, name, generatorModelId, qps, ...(rankerModelId && { rankerModelId }) };
}

/** The API has no way to stop a job: deleting the resource only reports what the job leaves behind. */
export const deploymentJob = lifecycle({
  type: "DeploymentJob",
  args: deploymentFields,
  outputs: z.object({ jobId: id }),
  replaceOn: ["projectId"],
  ignoreChanges: ["name"],
  redo: true,
  ...readBack,

  complete: async (given, { urn, config }) => withPinned(given, pinnedAt(urn, config)),

  calls: () => ({ create: [routes.submitDeploymentJob], update: [routes.submitDeploymentJob] }),

  async create(args, context) {
    const jobId = await submitDeployment(args, context);
    return { id: jobId, jobId };
  },

  async update(_id, _olds, news, context) {
    return { jobId: await submitDeployment(news, context) };
  },

  // The deployment itself is shut down by its own resource, which a run that ended during the wait has not created.
  async delete(_id, { projectId, jobId }, context) {
    const { client, run, settings, urn } = context;
    if (
      (await run.claims.entriesFor({ type: "Deployment", id: projectId, service: settings.baseUrl })).length >
      0
    )
      return;
    const job = await undefinedIfMissing(client.call(routes.getJob, { projectId, jobId }));
    if (!job || hasFailed(job, settings)) return;
    const outlook = await servingAfter(job, context);
    if (!outlook) return;
    await log.warn(
      urn,
      `Deployment job ${jobId} is ${job.jobStatus} and this stack does not hold its deployment: project ` +
        `${projectId} ${outlook}. Take it out of service with \`recommender shutdown --project ${projectId}\`.`,
    );
  },
});

/** Whether the project of a job that has not failed serves from now on, in words; undefined where it does not. */
async function servingAfter(job: Job, context: Context): Promise<string | undefined> {
  if (!hasSucceeded(job)) return "will serve once the job succeeds";
  try {
    // A run that was killed may have shut it down and come no further.
    const live = await isServing(undefined, job.jobResult?.servingUri, context);
    if (live === "unknown") return "may go on serving: something other than the service answers its calls";
    return live ? "goes on serving" : undefined;
  } catch (error) {
    return `may go on serving: could not check (${(error as Error).message})`;
  }
}
