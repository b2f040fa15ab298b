import { z } from "zod";
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
});

/** The arguments of a deployment, checked. */
export const deploymentArgs = deploymentFields.extend({
  submittedJobId: id.optional().describe("Id of the job that deploys it: `jobId` of a `DeploymentJob`."),
  check: checkArgs.optional(),
  rollback: z.boolean().default(false),
  existingId: id.optional(),
});

/** What the state holds of a deployment beside its arguments. */
export const deploymentOutputs = z.object({
  servingUri: z.string().optional(),
  stableServingUri: z.string().optional(),
  deploymentJobId: id.optional(),
  rolledBackJobId: id
    .optional()
    .describe("The submitted job whose models a rollback or another deployment has replaced."),
  // The check of what serves failed; it is run again until it passes. The reason is not an output: the engine keeps the message itself.
  checkFailed: z.literal(true).optional().describe("Whether the check of what serves failed."),
  // The job whose rollback got no response.
  __rollbackOf: id.optional(),
});

/** The arguments of a deployment in the state. */
export type State = z.output<typeof deploymentArgs>;
/** The outputs of a deployment in the state. */
export type Outputs = z.output<typeof deploymentOutputs>;

/** The addresses that a job's result or the state has. */
export function addressesIn(
  from:
    | { readonly [Key in "servingUri" | "stableServingUri"]?: string | null | undefined }
    | null
    | undefined,
): Pick<Outputs, "servingUri" | "stableServingUri"> {
  const { servingUri, stableServingUri } = from ?? {};
  return { ...(servingUri && { servingUri }), ...(stableServingUri && { stableServingUri }) };
}

/** The job that was submitted; another one where a rollback has taken that back or where none was submitted. */
export async function jobToWaitFor(olds: State & Outputs, news: State, context: Context): Promise<string> {
  const { submittedJobId } = news;
  if (submittedJobId && olds.rolledBackJobId !== submittedJobId) return submittedJobId;
  const follows = submittedJobId && `after-rollback-${olds.deploymentJobId}`;
  return submitDeployment(news, context, follows);
}

/** Waits for the job and compares its record with the request. */
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

/** The job's record holds the models of an earlier declaration, which may have been secret. */
function checkRecord({ id: jobId, jobData }: Job & { id: string }, args: State, { run, urn }: Context): void {
  const { generatorModelId, rankerModelId = null, qps } = args;
  const differing = Object.entries({ generatorModelId, rankerModelId, qps }).flatMap(([key, value]) => {
    const recorded = jobData?.[key as "qps"];
    return recorded === undefined || (recorded ?? null) === value ? [] : changeTexts(key, recorded, value);
  });
  if (differing.length === 0) return;
  const jobUrn = urn?.replace(":Deployment::", ":DeploymentJob::");
  const fix = run.reached.has(jobUrn)
    ? ""
    : `. The job is of an earlier run: target the DeploymentJob too, with --target '${jobUrn}'`;
  throw new Error(`job ${jobId} deployed something other than declared: ${differing.join(", ")}${fix}`);
}

/** A deployment whose check failed. */
interface Undone {
  /** The job that deployed it. */
  readonly failedJobId: string;
  /** The submitted job, which counts as rolled back afterwards. */
  readonly rolledBackJobId: string;
  readonly fault: string;
}

/**
 * Deploys the former models again. It always throws, because the run has failed, and leaves what serves in the state. If the
 * rollback gets no response, the next update finds out its outcome first. `current` is the state if nothing was rolled back.
 */
export async function rollBack(
  { __rollbackOf: _, __unknown, ...olds }: State & Outputs & Properties,
  { failedJobId, rolledBackJobId, fault }: Undone,
  context: Context,
  current?: State & Outputs,
): Promise<never> {
  const { projectId } = olds;
  try {
    const former = { ...olds, name: `${olds.name} (rollback)` };
    const back = await submitDeployment(former, context, `rollback-of-${failedJobId}`);
    const { deploymentJobId } = await deploy(former, back, context);
    const reason = `${fault}; rolled back to the former models by job ${deploymentJobId}`;
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
