import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { deploymentFields, limits, routes } from "../contract";
import { id } from "../contract/field";
import {
  DeploymentJob,
  type DeploymentJobArgs,
  type DeploymentState,
  deploymentRequest,
} from "./deployment-job";
import { say } from "./engine-log";
import { finishJob, type Job, jobKinds, submitJob } from "./jobs";
import { type Context, lifecycle, type Noun, PartialStateError } from "./lifecycle";
import { gone } from "./listing";
import { meansNotServing, recommendItems } from "./recommendation";
import { Resource, siblingOptions } from "./resource";

/** What is tried after a switch to other models. */
export interface DeploymentCheck {
  /** Users for whom recommendations are asked. */
  readonly userIds: pulumi.Input<pulumi.Input<string>[]>;
  /** Results that each of them must get at least; 1 unless set. */
  readonly minResults?: pulumi.Input<number>;
  /** Time that each answer may take at most; not looked at unless set. */
  readonly maxLatencyMs?: pulumi.Input<number>;
}

/** What a deployment is declared with. */
export interface DeploymentArgs extends DeploymentJobArgs {
  /** What is tried after each deployment, and by a refresh; nothing unless set. */
  readonly check?: pulumi.Input<DeploymentCheck>;
  /** Whether a check that fails puts the former models back; false unless set. */
  readonly rollback?: pulumi.Input<boolean>;
  /** Id of a project whose deployment is there already, to be taken over instead of made. */
  readonly existingId?: pulumi.Input<string>;
}

const checkArgs = z.strictObject({
  userIds: z.array(id).min(1),
  minResults: z.int().min(0).default(1),
  maxLatencyMs: z.number().positive().optional(),
});

/** The models that serve a project's recommendation call. */
export class Deployment extends Resource {
  declare readonly projectId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly generatorModelId: pulumi.Output<string>;
  declare readonly rankerModelId: pulumi.Output<string | undefined>;
  declare readonly qps: pulumi.Output<number>;
  /** Address of the project's recommendation service, where the service tells it. */
  declare readonly servingUri: pulumi.Output<string | undefined>;
  /** The job that deployed it; undefined for a deployment that was taken over. */
  declare readonly deploymentJobId: pulumi.Output<string | undefined>;

  constructor(name: string, args: DeploymentArgs, options?: pulumi.CustomResourceOptions) {
    const { check, rollback, existingId, ...submitted } = { name, qps: limits.defaultQps, ...args };
    const outputs = ["servingUri", "deploymentJobId"];
    const declared = { ...submitted, check, rollback: rollback ?? false };
    if (existingId === undefined) {
      const job = new DeploymentJob(name, submitted, siblingOptions(options, "Deployment", "DeploymentJob"));
      super("Deployment", name, { ...declared, submittedJobId: job.jobId }, outputs, options);
    } else super("Deployment", name, { ...declared, existingId }, outputs, options);
  }

  /** @internal */
  static readonly lifecycle = lifecycle(deployment());
}

interface Check {
  readonly userIds: readonly string[];
  readonly minResults: number;
  readonly maxLatencyMs?: number;
}

interface State extends DeploymentState {
  readonly submittedJobId?: string;
  readonly check?: Check;
  readonly rollback: boolean;
  readonly existingId?: string;
}

interface Outputs {
  readonly servingUri?: string;
  readonly deploymentJobId?: string;
  /** The submitted job that was taken back by a rollback. */
  readonly rolledBackJobId?: string;
}

function deployment(): Noun<State, Outputs> {
  return {
    type: "Deployment",
    args: deploymentFields.extend({
      submittedJobId: id.optional(),
      check: checkArgs.optional(),
      rollback: z.boolean().default(false),
      existingId: id.optional(),
    }),
    replaceOn: ["projectId"],
    ignore: ["name", "check", "rollback"],

    async create(args, context) {
      const outputs = await deploy(args, args.submittedJobId ?? "", context);
      const fault = await tryOut(args, outputs.servingUri, context);
      if (fault) {
        // There is nothing to go back to; what was deployed is kept in the state, so that it is not lost.
        throw new PartialStateError(args.projectId, { ...args, ...outputs }, `it is deployed, but ${fault}`);
      }
      return { id: args.projectId, ...outputs };
    },

    async adopt(projectId, args, context) {
      if (projectId !== args.projectId) {
        throw new Error(
          `existingId ${projectId}: the id of a deployment is that of its project, ${args.projectId}`,
        );
      }
      await say.warn(context.urn, "the API does not tell which models serve: they are taken as declared");
      const fault = await tryOut(args, undefined, context);
      if (fault) throw new Error(`existingId ${projectId}: ${fault}`);
      return {};
    },

    async read(_id, state, context) {
      if (!state.check) return state;
      try {
        await recommendItems(context.client, { userId: state.check.userIds[0], limit: 1 }, state.servingUri);
        return state;
      } catch (error) {
        if (!meansNotServing(error)) throw error;
        await say.warn(context.urn, `it does not serve: ${error.message}`);
        return undefined;
      }
    },

    async update(projectId, olds, news, context) {
      const submitted = news.submittedJobId ?? "";
      const jobId =
        olds.rolledBackJobId === submitted && submitted !== ""
          ? await submitJob(context, routes.submitDeploymentJob, deploymentRequest(news))
          : submitted;
      const outputs = jobId === "" ? await submitAdopted(news, context) : await deploy(news, jobId, context);
      const fault = await tryOut(news, outputs.servingUri, context);
      if (!fault) return outputs;
      if (!news.rollback)
        throw new PartialStateError(projectId, { ...news, ...outputs }, `it is deployed, but ${fault}`);
      const former = { ...deploymentRequest(olds), name: `${olds.name} (rollback)` };
      const back = await submitJob(context, routes.submitDeploymentJob, former);
      const { deploymentJobId } = await deploy({ ...olds, ...former }, back, context).catch(
        (error: Error) => {
          throw new PartialStateError(
            projectId,
            { ...news, ...outputs },
            `${fault}; and the rollback failed: ${error.message}`,
          );
        },
      );
      throw new PartialStateError(
        projectId,
        { ...olds, deploymentJobId, rolledBackJobId: submitted },
        `${fault}; the former models were put back by job ${deploymentJobId}`,
      );
    },

    async delete(projectId, _state, { client }) {
      await gone(client.call(routes.shutdownDeployment, { projectId }));
    },
  };
}

async function submitAdopted(args: State, context: Context): Promise<Outputs> {
  return deploy(args, await submitJob(context, routes.submitDeploymentJob, deploymentRequest(args)), context);
}

/** Waits for the job and holds its record against what was asked for. */
async function deploy(args: State, jobId: string, context: Context): Promise<Outputs> {
  const request = deploymentRequest(args);
  const job = await finishJob(context, {
    kind: jobKinds.deployment,
    projectId: args.projectId,
    jobId,
    submitAgain: (key) => submitJob(context, routes.submitDeploymentJob, request, key),
  });
  compare(job, args);
  const servingUri = job.jobResult?.servingUri;
  return { deploymentJobId: job.id, ...(servingUri != null && { servingUri }) };
}

function compare({ jobData }: Job & { id: string }, args: State): void {
  const asked = {
    generatorModelId: args.generatorModelId,
    rankerModelId: args.rankerModelId ?? null,
    qps: args.qps,
  };
  for (const [key, value] of Object.entries(asked)) {
    const recorded = jobData?.[key as keyof typeof asked];
    if (recorded !== undefined && (recorded ?? null) !== value) {
      throw new Error(
        `${key} ${JSON.stringify(value)} was asked for, but the job deployed ${JSON.stringify(recorded)}`,
      );
    }
  }
}

/** What is wrong with the serving, in words; undefined when it is as it should be or when no check is declared. */
async function tryOut(
  args: State,
  servingUri: string | undefined,
  context: Context,
): Promise<string | undefined> {
  const { client, clock } = context;
  if (!args.check) return undefined;
  const { userIds, minResults = 1, maxLatencyMs } = args.check;
  for (const [index, userId] of userIds.entries()) {
    // The deployment's own limit of queries per second would be counted as latency.
    if (index > 0) await clock.sleep(1000 / args.qps);
    const began = performance.now();
    try {
      const { results } = await recommendItems(
        client,
        { userId, limit: Math.max(minResults, 1) },
        servingUri,
      );
      const tookMs = Math.round(performance.now() - began);
      if (results.length < minResults) {
        return `the check failed: user ${userId} got ${results.length} results, at least ${minResults} are asked for`;
      }
      if (maxLatencyMs !== undefined && tookMs > maxLatencyMs) {
        return `the check failed: the answer for user ${userId} took ${tookMs} ms, at most ${maxLatencyMs} are allowed`;
      }
    } catch (error) {
      return `the check failed: ${(error as Error).message}`;
    }
  }
  return undefined;
}
