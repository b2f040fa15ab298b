import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { isUnreachable } from "../client/errors";
import { runCheck } from "../client/serving";
import { deploymentFields, limits } from "../contract";
import { atMost, id } from "../contract/field";
import { submitDeployment } from "./deployment-job";
import { finishJob, type Job, jobKinds } from "./jobs/jobs";
import { PartialStateError } from "./lifecycle/failure";
import { changeTexts } from "./lifecycle/wording";
import { UnknownCreationError } from "./recovery/unknown-creation";
import type { Context } from "./run/context";
import type { Properties } from "./run/state-entry";

const checkArgs = z.strictObject({
  userIds: z.array(id).min(1),
  minResults: atMost(z.int().min(0), limits.recommendedItems).default(1),
  maxLatencyMs: z.number().positive().optional(),
  filterQuery: atMost(z.string().min(1), limits.filterCharacters).optional(),
});

/** Schema of a deployment's arguments. */
export const deploymentArgs = deploymentFields.extend({
  submittedJobId: id.optional().describe("Id of the deployment job: `jobId` of a `DeploymentJob`."),
  check: checkArgs.optional(),
  rollback: z.boolean().default(false),
  existingId: id.optional(),
});

/** Schema of a deployment's outputs. */
export const deploymentOutputs = z.object({
  servingUri: z.string().optional(),
  stableServingUri: z.string().optional(),
  deploymentJobId: id.optional(),
  rolledBackJobId: id
    .optional()
    .describe("Id of the submitted job, if a rollback or another deployment has replaced its models."),
  // If set, every `pulumi up` repeats the check until it passes. The engine stores the reason as the error message.
  checkFailed: z.literal(true).optional().describe("True if the check of the live models failed."),
  // Id of the job to roll back, if the submission of the rollback got no response.
  __rollbackOf: id.optional(),
});

/** Arguments of a deployment, as stored in the state. */
export type State = z.output<typeof deploymentArgs>;
/** Outputs of a deployment, as stored in the state. */
export type Outputs = z.output<typeof deploymentOutputs>;

/** Returns the serving addresses in a job's result or in the state. */
export function addressesIn(from: Job["jobResult"]): Pick<Outputs, "servingUri" | "stableServingUri"> {
  const { servingUri, stableServingUri } = from ?? {};
  return { ...(servingUri && { servingUri }), ...(stableServingUri && { stableServingUri }) };
}

/**
 * Returns the id of the job to wait for. Submits a new job if a rollback has undone the submitted one or if there is
 * none.
 */
export async function jobToWaitFor(olds: State & Outputs, news: State, context: Context): Promise<string> {
  const { submittedJobId } = news;
  if (submittedJobId && olds.rolledBackJobId !== submittedJobId) return submittedJobId;
  const follows = submittedJobId && `after-rollback-${olds.deploymentJobId}`;
  return submitDeployment(news, context, follows);
}

/** Waits for a deployment job, checks that it deployed the declared values, and returns the outputs. */
export async function deploy(
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
  checkRecord(job, args, context);
  return { deploymentJobId: job.id, servingUri: context.client.baseUrl, ...addressesIn(job.jobResult) };
}

/** Throws if the job's record shows other values than the arguments. */
function checkRecord({ id: jobId, jobData }: Job & { id: string }, args: State, { run, urn }: Context): void {
  const { generatorModelId, rankerModelId = null, qps, rules = null } = args;
  const declared = { generatorModelId, rankerModelId, qps, rules };
  const differing = Object.entries(declared).flatMap(([key, value]) => {
    const recorded = jobData?.[key as "qps"];
    const isSame = recorded === undefined || isDeepStrictEqual(recorded ?? null, value);
    return isSame ? [] : changeTexts(key, recorded, value);
  });
  if (differing.length === 0) return;
  const jobUrn = urn?.replace(":Deployment::", ":DeploymentJob::");
  const fix = run.reached.has(jobUrn)
    ? ""
    : `. The job is from an earlier run: target the DeploymentJob too, with --target '${jobUrn}'`;
  throw new Error(`job ${jobId} did not deploy the declared values: ${differing.join(", ")}${fix}`);
}

/**
 * Returns why the check of a new deployment failed, or undefined if it passed.
 *
 * @param failed creates the error to throw if the check could not be completed, so nothing is known about the models
 */
export async function faultOf(
  args: State,
  { servingUri }: Outputs,
  context: Context,
  failed: (reason: string) => Error,
): Promise<string | undefined> {
  try {
    return (await runCheck(args, servingUri, context))?.reason;
  } catch (error) {
    if (isUnreachable(error)) throw error;
    const reason = "it is deployed, but its check could not be completed; `pulumi up` repeats it";
    throw Object.assign(failed(`${reason}: ${(error as Error).message}`), { cause: error });
  }
}

/**
 * Checks a new deployment and returns its outputs. If the check fails, throws an error that stores the deployment in
 * the state, and the next run checks it again.
 */
export async function checked(args: State, outputs: Outputs, context: Context): Promise<Outputs> {
  const state = { ...args, ...outputs, checkFailed: true as const };
  const failed = (reason: string) => new PartialStateError(args.projectId, state, reason);
  const fault = await faultOf(args, outputs, context, failed);
  if (fault) throw failed(`it is deployed, but ${fault}`);
  return outputs;
}

/** Deployment whose check failed. */
interface FailedDeployment {
  /** Job that deployed it. */
  readonly failedJobId: string;
  /** Submitted job, which the state records as rolled back. */
  readonly rolledBackJobId: string;
  readonly fault: string;
}

/**
 * Deploys the previous models again. Always throws, because the update has failed. The error stores the models that are
 * then live in the state. If the submission of the rollback gets no response, the next update first finds out its
 * outcome.
 *
 * @param current state to store if the rollback failed
 */
export async function rollBack(
  { __rollbackOf: _, __unknown, ...olds }: State & Outputs & Properties,
  { failedJobId, rolledBackJobId, fault }: FailedDeployment,
  context: Context,
  current?: State & Outputs,
): Promise<never> {
  const { projectId } = olds;
  try {
    const previous = { ...olds, name: `${olds.name} (rollback)` };
    const back = await submitDeployment(previous, context, `rollback-of-${failedJobId}`);
    const { deploymentJobId } = await deploy(previous, back, context);
    const reason = `${fault}; rolled back to the previous models by job ${deploymentJobId}`;
    throw new PartialStateError(projectId, { ...olds, deploymentJobId, rolledBackJobId }, reason);
  } catch (error) {
    if (error instanceof PartialStateError) throw error;
    const reason = `${fault}; and the rollback failed: ${(error as Error).message}`;
    if (error instanceof UnknownCreationError) {
      const unknown = { __rollbackOf: failedJobId, __unknown: error.placeholder ?? __unknown };
      throw new PartialStateError(projectId, { ...olds, rolledBackJobId, ...unknown }, reason);
    }
    if (!current) throw error;
    throw new PartialStateError(projectId, { ...current, checkFailed: true }, reason);
  }
}
