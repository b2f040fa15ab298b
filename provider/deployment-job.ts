import { z } from "zod";
import { undefinedIfMissing } from "../client/error-meaning";
import { hasFailed, hasSucceeded, type Job } from "../client/job";
import { isServing } from "../client/serving";
import { deploymentFields, routes } from "../contract";
import { id } from "../contract/field";
import { readBack, submitJob } from "./jobs/jobs";
import { ownJob } from "./jobs/other-project";
import { lifecycle } from "./lifecycle/lifecycle";
import { rulesFault } from "./rules";
import type { Context } from "./run/context";
import { log } from "./run/engine";
import { type Pinned, pinnedIn } from "./run/pinned";
import type { Properties } from "./run/state-entry";
import { logicalName } from "./run/urn";

/** Arguments of a deployment job, as a lifecycle receives them. */
export type DeploymentState = z.output<typeof deploymentFields>;

/** Submits a deployment job and returns its id. Calls with the same `follows` and name submit only one job. */
export function submitDeployment(args: DeploymentState, context: Context, follows?: string): Promise<string> {
  return submitJob(context, routes.submitDeploymentJob, requestOf(args), { follows });
}

/** Replaces the program's models and rules with the pinned ones. */
export function withPinned(given: Properties, pinned: Pinned | undefined): Properties {
  if (!pinned) return given;
  const { rankerModelId: _, rules, ...others } = given;
  const { rules: kept, ...models } = pinned;
  // If the pin has no rules, the rules of the program stay.
  const live = kept === undefined ? rules : kept;
  return { ...others, ...models, ...(live != null && { rules: live }) };
}

/** Returns the request that submits a deployment job. */
export function requestOf({
  projectId,
  name,
  generatorModelId,
  rankerModelId,
  qps,
  rules,
}: DeploymentState): DeploymentState {
  return {
    ...{ projectId, name, generatorModelId, qps },
    ...(rankerModelId && { rankerModelId }),
    ...(rules && { rules }),
  };
}

/**
 * Lifecycle of a submitted deployment job. The API cannot stop a job, so deleting the resource only warns about a
 * deployment that the job leaves behind.
 */
export const deploymentJob = lifecycle({
  type: "DeploymentJob",
  args: deploymentFields,
  outputs: z.object({ jobId: id }),
  replaceOn: ["projectId"],
  ignoreChanges: ["name"],
  redo: true,
  ...readBack,

  complete: async (given, { urn, config }) => withPinned(given, pinnedIn(config, logicalName(urn))),

  validate: ({ rules, projectId }, declaration) => rulesFault(rules, projectId, declaration),

  calls({ rules }) {
    const submit = [{ ...routes.submitDeploymentJob, uses: rules === undefined ? [] : ["rules"] }];
    return { create: submit, update: submit };
  },

  async create(args, context) {
    const jobId = await submitDeployment(args, context);
    return { id: jobId, jobId };
  },

  async update(_id, _olds, news, context) {
    return { jobId: await submitDeployment(news, context) };
  },

  // Normally the Deployment resource shuts the deployment down. A run that was interrupted while it waited for the job
  // has not created that resource.
  async delete(_id, { projectId, jobId }, context) {
    const { client, run, settings, urn } = context;
    if (
      (await run.claims.entriesFor({ type: "Deployment", id: projectId, service: settings.baseUrl })).length >
      0
    )
      return;
    const read = undefinedIfMissing(client.call(routes.getJob, { projectId, jobId }));
    const job = await ownJob(read, jobId, context);
    if (!job || hasFailed(job, settings)) return;
    const outlook = await servingAfter(job, context);
    if (!outlook) return;
    await log.warn(
      urn,
      `Deployment job ${jobId} is ${job.jobStatus}, but its deployment is not in this stack: project ` +
        `${projectId} ${outlook}. To stop it, run \`recommender shutdown --project ${projectId}\`.`,
    );
  },
});

/** Describes whether a job's project serves recommendations after this run. Returns undefined if it does not. */
async function servingAfter(job: Job, context: Context): Promise<string | undefined> {
  if (!hasSucceeded(job)) return "will serve once the job succeeds";
  try {
    // A killed run may have shut the deployment down already.
    const live = await isServing(undefined, job.jobResult?.servingUri, context);
    if (live === "unknown") return "may still serve: something other than the service responds to its calls";
    return live ? "still serves" : undefined;
  } catch (error) {
    return `may still serve: could not check (${(error as Error).message})`;
  }
}
