import { isDeepStrictEqual } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { notServing, undefinedIfMissing } from "../client/refusals";
import { serves, tryOut } from "../client/serving";
import { deploymentFields, limits, routes } from "../contract";
import { atMost, id } from "../contract/field";
import { DeploymentJob, type DeploymentJobArgs, requestOf, submitDeployment } from "./deployment-job";
import { Resource, siblingOptions } from "./dynamic/resource";
import { finishJob, type Job, jobKinds } from "./jobs/jobs";
import { PartialStateError } from "./lifecycle/failure";
import { lifecycle } from "./lifecycle/lifecycle";
import { defineNoun } from "./lifecycle/noun";
import { changesOf } from "./lifecycle/wording";
import type { Context } from "./run/context";
import { log } from "./run/engine";
import { pinnedHere } from "./run/pinned";
import { partsOf, titleOf } from "./run/urn";

/** What is tried after a switch to other models. */
export interface DeploymentCheck {
  /** Users for whom recommendations are asked. */
  readonly userIds: pulumi.Input<pulumi.Input<string>[]>;
  /** Results that each of them must get at least; 1 unless set. */
  readonly minResults?: pulumi.Input<number>;
  /** Time that each response may take at most; not checked unless set. */
  readonly maxLatencyMs?: pulumi.Input<number>;
}

/** What a deployment is declared with. */
export interface DeploymentArgs extends DeploymentJobArgs {
  /** What is tried after each deployment, and by a refresh; nothing unless set. */
  readonly check?: pulumi.Input<DeploymentCheck>;
  /** Whether a check that fails puts the former models back; false unless set. */
  readonly rollback?: pulumi.Input<boolean>;
  /** Id of a project whose existing deployment to adopt instead of creating one. */
  readonly existingId?: pulumi.Input<string>;
}

const checkArgs = z.strictObject({
  userIds: z.array(id).min(1),
  minResults: atMost(z.int().min(0), limits.recommendedItems).default(1),
  maxLatencyMs: z.number().positive().optional(),
});

const deploymentArgs = deploymentFields.extend({
  submittedJobId: id.optional(),
  check: checkArgs.optional(),
  rollback: z.boolean().default(false),
  existingId: id.optional(),
});

const deploymentOutputs = z.object({
  servingUri: z.string().optional(),
  deploymentJobId: id.optional(),
  // The submitted job that was taken back by a rollback.
  rolledBackJobId: id.optional(),
  // The check of what serves failed; it is run again until it passes. The reason is not an output: the engine keeps the message itself.
  checkFailed: z.literal(true).optional(),
});

type State = z.output<typeof deploymentArgs>;
type Outputs = z.output<typeof deploymentOutputs>;

/** The models that serve a project's recommendation call. */
export class Deployment extends Resource {
  declare readonly projectId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly generatorModelId: pulumi.Output<string>;
  declare readonly rankerModelId: pulumi.Output<string | undefined>;
  declare readonly qps: pulumi.Output<number>;
  /** Address under which the project's recommendations are called for; that of the service, unless it reports another. */
  declare readonly servingUri: pulumi.Output<string>;
  /** The job that deployed it; undefined for an adopted deployment. */
  declare readonly deploymentJobId: pulumi.Output<string | undefined>;

  constructor(name: string, args: DeploymentArgs, options?: pulumi.CustomResourceOptions) {
    const { check, rollback, existingId, ...asked } = args;
    const pinned = pinnedHere(name);
    const { rankerModelId: _, ...others } = asked;
    const submitted = pinned ? { ...others, ...pinned } : asked;
    const properties = { ...submitted, check, rollback };
    if (existingId === undefined) {
      const job = new DeploymentJob(name, submitted, siblingOptions(options, "Deployment", "DeploymentJob"));
      super(Deployment.lifecycle, name, { ...properties, submittedJobId: job.jobId }, options);
    } else super(Deployment.lifecycle, name, { ...properties, existingId }, options);
    if (pinned) {
      const models = Object.values(pinned).join(" and ");
      pulumi.log.warn(
        `serving pinned models (${models}), not the program's: recommender:pinnedModels says so. ` +
          `Remove the pin with \`recommender rollback ${pulumi.getStack()} --undo --yes\`.`,
        this,
      );
    }
  }

  /** @internal */
  static readonly lifecycle = lifecycle(deployment());
}

function deployment() {
  return defineNoun({
    type: "Deployment",
    args: deploymentArgs,
    outputs: deploymentOutputs,
    replaceOn: ["projectId"],
    // The name is that of the job; it does not deploy again.
    ignoreChanges: ["name"],

    refuse({ projectId }, { deploying }, urn) {
      if (typeof projectId !== "string" || projectId === pulumi.runtime.unknownValue) return undefined;
      const other = deploying.get(projectId) ?? urn;
      deploying.set(projectId, other);
      if (other === urn) return undefined;
      return `project ${projectId} has a Deployment already, ${titleOf(partsOf(other))}, and can have only one: remove one of the two`;
    },

    replacing: ({ title, id }) => `${title} moves to another project: project ${id} stops serving.`,

    async create(args, context) {
      const { run } = context;
      // Deleted before it is replaced: what the job has deployed may be out of service again.
      if (run.shutDown.has(args.projectId)) run.submitted.delete(args.submittedJobId ?? "");
      const outputs = await deploy(
        args,
        args.submittedJobId ?? "",
        context,
        // A job of an earlier run may have been undone since by a shutdown.
        async ({ jobResult }, earlier) =>
          !earlier || serves(args.check?.userIds[0], jobResult?.servingUri, context),
      );
      // There is nothing to go back to.
      return { id: args.projectId, ...(await checked(args, outputs, context)) };
    },

    async adoptable(projectId, args) {
      if (projectId === args.projectId) return;
      throw new Error(
        `existingId ${projectId}: the id of a deployment is that of its project, ${args.projectId}`,
      );
    },

    async adopt(projectId, args, context) {
      await log.warn(context.urn, "the API does not report which models serve; assuming the declared ones");
      const fault = await tryOut(args, undefined, context);
      if (fault) throw new Error(`existingId ${projectId}: ${fault}`);
      return { servingUri: context.client.baseUrl };
    },

    /** The API does not report what serves: the job's record is read, and with a check the recommendation is tried. */
    async read(projectId, state, context) {
      const { client, urn } = context;
      const jobId = state.deploymentJobId;
      const job = jobId
        ? await undefinedIfMissing(client.call(routes.getJob, { projectId, jobId }))
        : undefined;
      const servingUri = job?.jobResult?.servingUri ?? state.servingUri;
      if (state.check && !(await serves(state.check.userIds[0], servingUri, context))) {
        await log.warn(urn, `project ${projectId} does not serve`);
        return undefined;
      }
      if (state.checkFailed) await log.warn(urn, "its check failed; `pulumi up` runs it again");
      return { ...state, ...(servingUri && { servingUri }) };
    },

    unsettled: ({ checkFailed }) => checkFailed === true,

    async update(projectId, olds, news, context) {
      const submitted = news.submittedJobId ?? "";
      const same =
        isDeepStrictEqual(requestOf(olds), requestOf(news)) && olds.submittedJobId === news.submittedJobId;
      const { servingUri, deploymentJobId } = olds;
      // Only the check or the rollback is another: there is nothing to deploy.
      if (same && olds.rolledBackJobId === undefined) {
        const kept = { ...(servingUri && { servingUri }), ...(deploymentJobId && { deploymentJobId }) };
        return olds.checkFailed ? checked(news, kept, context) : kept;
      }
      const outputs = await deploy(news, await jobToWaitFor(olds, news, context), context);
      if (!news.rollback && !context.settings.rollback) return checked(news, outputs, context);
      const fault = await tryOut(news, outputs.servingUri, context);
      if (!fault) return outputs;
      try {
        const former = { ...olds, name: `${olds.name} (rollback)` };
        const back = await submitDeployment(former, context, `rollback-of-${outputs.deploymentJobId}`);
        const { deploymentJobId } = await deploy(former, back, context);
        const state = { ...olds, deploymentJobId, rolledBackJobId: submitted };
        const reason = `${fault}; rolled back to the former models by job ${deploymentJobId}`;
        throw new PartialStateError(projectId, state, reason);
      } catch (error) {
        if (error instanceof PartialStateError) throw error;
        const reason = `${fault}; and the rollback failed: ${(error as Error).message}`;
        throw new PartialStateError(projectId, { ...news, ...outputs, checkFailed: true }, reason);
      }
    },

    async delete(projectId, _state, { client, run }) {
      await notServing(client.call(routes.shutdownDeployment, { projectId }));
      run.shutDown.add(projectId);
    },
  });
}

/** What was deployed, once its check passes; where it fails, the state keeps it with the reason, so that it is not lost. */
async function checked(args: State, outputs: Outputs, context: Context): Promise<Outputs> {
  const fault = await tryOut(args, outputs.servingUri, context);
  if (!fault) return outputs;
  const state = { ...args, ...outputs, checkFailed: true as const };
  throw new PartialStateError(args.projectId, state, `it is deployed, but ${fault}`);
}

/** The job that was submitted; another one where a rollback has taken that back or where none was submitted. */
async function jobToWaitFor(olds: State & Outputs, news: State, context: Context): Promise<string> {
  const { submittedJobId } = news;
  if (submittedJobId && olds.rolledBackJobId !== submittedJobId) return submittedJobId;
  const follows = submittedJobId && `after-rollback-${olds.deploymentJobId}`;
  return submitDeployment(news, context, follows);
}

/** Waits for the job and compares its record with the request. */
async function deploy(
  args: State,
  jobId: string,
  context: Context,
  resultIsThere?: (job: Job, earlier: boolean) => Promise<boolean>,
): Promise<Outputs> {
  const job = await finishJob(context, {
    kind: jobKinds.deployment,
    projectId: args.projectId,
    jobId,
    submitAgain: (follows, name = args.name) => submitDeployment({ ...args, name }, context, follows),
    ...(resultIsThere && { resultIsThere }),
  });
  compare(job, args, context);
  return { deploymentJobId: job.id, servingUri: job.jobResult?.servingUri ?? context.client.baseUrl };
}

/** The job's record holds the models of an earlier declaration, which may have been secret. */
function compare({ id: jobId, jobData }: Job & { id: string }, args: State, { run, urn }: Context): void {
  const { generatorModelId, rankerModelId = null, qps } = args;
  const differing = Object.entries({ generatorModelId, rankerModelId, qps }).flatMap(([key, value]) => {
    const recorded = jobData?.[key as "qps"];
    return recorded === undefined || (recorded ?? null) === value ? [] : changesOf(key, recorded, value);
  });
  if (differing.length === 0) return;
  const jobUrn = urn?.replace(":Deployment::", ":DeploymentJob::");
  const cure = run.reached.has(jobUrn)
    ? ""
    : `. The job is of an earlier run: target the DeploymentJob too, with --target '${jobUrn}'`;
  throw new Error(`job ${jobId} deployed something other than declared: ${differing.join(", ")}${cure}`);
}
