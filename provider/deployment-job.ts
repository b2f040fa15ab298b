import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { hasFailed, hasSucceeded, type Job } from "../client/job";
import { undefinedIfMissing } from "../client/refusals";
import { serves } from "../client/serving";
import { deploymentFields, routes } from "../contract";
import { id } from "../contract/field";
import { Resource } from "./dynamic/resource";
import { submitJob } from "./jobs/jobs";
import { lifecycle } from "./lifecycle/lifecycle";
import { defineNoun } from "./lifecycle/noun";
import type { Context } from "./run/context";
import { log } from "./run/engine";

/** What a deployment is submitted with. */
export interface DeploymentJobArgs {
  /** Id of the project that is to serve. */
  readonly projectId: pulumi.Input<string>;
  /** Name of the job; the logical name unless set. */
  readonly name?: pulumi.Input<string>;
  /** Id of the model that produces the results. */
  readonly generatorModelId: pulumi.Input<string>;
  /** Id of the model that puts the generator's results in a new order. */
  readonly rankerModelId?: pulumi.Input<string>;
  /** Queries per second that the recommendation call may use; 1 unless set. */
  readonly qps?: pulumi.Input<number>;
}

/**
 * A deployment that was submitted. Every `Deployment` has one beside it, so that the job is in the state before the
 * wait for it begins.
 */
export class DeploymentJob extends Resource {
  declare readonly jobId: pulumi.Output<string>;
  declare readonly projectId: pulumi.Output<string>;

  constructor(name: string, args: DeploymentJobArgs, options?: pulumi.CustomResourceOptions) {
    super(DeploymentJob.lifecycle, name, args, options);
  }

  /** @internal */
  static readonly lifecycle = lifecycle(deploymentJob());
}

/** What a deployment is submitted with, as it reaches a lifecycle. */
export type DeploymentState = z.output<typeof deploymentFields>;

/** Submits a deployment; once, should it follow from an earlier job. */
export function submitDeployment(args: DeploymentState, context: Context, follows?: string): Promise<string> {
  return submitJob(context, routes.submitDeploymentJob, requestOf(args), { follows });
}

/** The request of a deployment. */
export function requestOf({ projectId, name, generatorModelId, rankerModelId, qps }: DeploymentState) {
  return { projectId, name, generatorModelId, qps, ...(rankerModelId && { rankerModelId }) };
}

/** The API has no way to read a job that it has forgotten, nor to stop one; so no read, and delete only tells. */
function deploymentJob() {
  return defineNoun({
    type: "DeploymentJob",
    args: deploymentFields,
    outputs: z.object({ jobId: id }),
    replaceOn: ["projectId"],
    ignoreChanges: ["name"],
    redo: true,

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
      if ((await run.claims.holders({ type: "Deployment", id: projectId })).length > 0) return;
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
}

/** Whether the project of a job that has not failed serves from now on, in words; undefined where it does not. */
async function servingAfter(job: Job, context: Context): Promise<string | undefined> {
  if (!hasSucceeded(job)) return "will serve once the job succeeds";
  try {
    // A run that was killed may have shut it down and come no further.
    const isServing = await serves(undefined, job.jobResult?.servingUri, context);
    return isServing ? "goes on serving" : undefined;
  } catch (error) {
    return `may go on serving: could not check (${(error as Error).message})`;
  }
}
