import ms from "ms";
import { undefinedIfMissing } from "../../client/error-meaning";
import {
  failureReason,
  hasEnded,
  hasFailed,
  hasSucceeded,
  type Job,
  type JobKind,
  progressText,
  usualTime,
  watchJob,
} from "../../client/job";
import { digest } from "../../client/state-directory";
import { type Input, type Route, routes } from "../../contract";
import { truncate } from "../../contract/messages";
import { createOnce } from "../recovery/create-once";
import type { Creation } from "../recovery/creation";
import type { Context } from "../run/context";
import { log } from "../run/engine";
import { isJobOfOtherProject, withWayOut } from "./other-project";

export { hasEnded, type Job, type JobKind, jobKinds } from "../../client/job";

type SubmitRoute = Route & { readonly reply: (typeof routes.submitTrainingJob)["reply"] };

/** Options of a submission. */
interface SubmissionOptions<Listed>
  extends Partial<
    Pick<Creation<SubmitRoute, Listed>, "idOf" | "identity" | "findLost" | "adopt" | "isThere">
  > {
  /**
   * Cause of a resubmission, such as `again-job-1`. The idempotency key is derived from it, so several machines submit
   * the job only once.
   */
  readonly follows?: string | undefined;
}

/** Submits a job once and returns its id. Does not wait for the job, so the engine can store the id first. */
export async function submitJob<R extends SubmitRoute, Listed = never>(
  context: Context,
  route: R,
  request: Input<R> & { readonly projectId: string; readonly name: string },
  { follows, ...options }: SubmissionOptions<Listed> = {},
): Promise<string> {
  // The name does not identify a job: a job with a new name is still the same job.
  const { name, ...identity } = request;
  // The key depends on the name nevertheless, because a service rejects a different request with the same key.
  const once = follows && { identity: follows, key: `${follows}-${digest(name)}` };
  const { reply, resumed } = await createOnce<SubmitRoute, Listed>(context, {
    idOf: ({ jobId }) => jobId,
    isThere: async ({ jobId }) =>
      (await undefinedIfMissing(readJob(context, request.projectId, jobId))) !== undefined,
    adopt: (jobId) => adoptJob(jobId, request, context),
    contradiction: ({ jobId }, sent) => otherJob(context, jobId, { ...request, ...(sent as object) }),
    route,
    request,
    identity,
    ...options,
    ...once,
  });
  if (!resumed) {
    context.run.submitted.set(reply.jobId, context.clock.now());
  }
  return reply.jobId;
}

/**
 * Returns how a job's record differs from its submission, or undefined. The reply to a submission contains only the
 * job's id, so only the record can show that a gateway repeated the reply to another submission.
 */
async function otherJob(
  context: Context,
  jobId: string,
  { projectId, name }: { readonly projectId: string; readonly name: string },
): Promise<string | undefined> {
  try {
    const job = await readJob(context, projectId, jobId);
    if (job.name == null || job.name === name) return undefined;
    return `the response names job ${truncate(jobId)}, which has the name ${truncate(job.name)}, not ${truncate(name)}`;
  } catch (error) {
    // Any other error proves nothing: a new job may take a while to appear in the service.
    return isJobOfOtherProject(error) ? error.message : undefined;
  }
}

/** Adopts the job that the user names as the outcome of a submission without a response. */
export async function adoptJob(
  jobId: string,
  { projectId }: { readonly projectId: string },
  context: Context,
): Promise<{ jobId: string }> {
  if (await undefinedIfMissing(readJob(context, projectId, jobId))) return { jobId };
  throw new Error(`Cannot adopt job ${truncate(jobId)}: project ${truncate(projectId)} has no such job`);
}

/**
 * Returns an error if neither `submittedJobId` nor `existingId` is set. The TypeScript classes always set one of them.
 */
export function missingJobError(
  type: string,
  component: string,
  { submittedJobId, existingId }: { readonly submittedJobId?: unknown; readonly existingId?: unknown },
): string | undefined {
  if (submittedJobId !== undefined || existingId !== undefined) return undefined;
  return (
    `set submittedJobId to the jobId of a ${type}, or existingId to adopt an existing object; ` +
    `a ${component} declares this resource and its ${type} together`
  );
}

/** Submitted job, and how to submit it again. */
export interface Submitted {
  readonly kind: JobKind;
  readonly projectId: string;
  readonly jobId: string;
  /**
   * Submits the job again. `follows` is the cause. The job keeps its previous name if that is known, so a machine with
   * a different name in its program sends the same request.
   */
  readonly submitAgain: (follows: string, name: string | undefined) => Promise<string>;
  /** Reads a job. Default: from the service. */
  readonly readJob?: (jobId: string) => Promise<Job>;
  /** Whether the result of the job still exists. If not, a job of an earlier run is submitted again. */
  readonly resultIsThere?: (job: Job, earlier: boolean) => Promise<boolean>;
}

/** Succeeded job. */
export interface FinishedJob extends Job {
  readonly id: string;
  /** Time since the submission, in milliseconds. Undefined if an earlier run submitted the job. */
  readonly tookMs: number | undefined;
}

/**
 * Waits until a job has succeeded. If an earlier run submitted the job, and it has failed or its result no longer
 * exists, submits it again.
 */
export async function finishJob(context: Context, submitted: Submitted): Promise<FinishedJob> {
  const { kind, projectId, jobId } = submitted;
  const earlier = !context.run.submitted.has(jobId);
  const again = async (why: string, { name }: { readonly name?: string | null | undefined } = {}) => {
    const next = await submitted.submitAgain(`again-${jobId}`, name ?? undefined);
    // If an earlier run resubmitted the job, that run has already reported it.
    if (context.run.submitted.has(next))
      await log.info(context.urn, `${kind.name} job ${jobId} ${why}; submitted again as ${next}`);
    return finishJob(context, { ...submitted, jobId: next });
  };
  const first = await undefinedIfMissing(
    submitted.readJob?.(jobId) ?? readJob(context, projectId, jobId),
  ).catch((error) => {
    throw withWayOut(error, jobId, context);
  });
  if (!first) {
    if (earlier) return again("no longer exists in the service");
    throw new Error(`${kind.name} job ${jobId} was just submitted, but the service cannot find it`);
  }
  if (earlier && hasFailed(first, context.settings))
    return again(`had failed (${failureReason(first)})`, first);
  const job = await waitFor(context, kind, projectId, jobId, first);
  const hasResult = (await submitted.resultIsThere?.(job, earlier)) ?? true;
  const submittedAt = context.run.submitted.get(jobId);
  const tookMs = submittedAt === undefined ? undefined : context.clock.now() - submittedAt;
  if (hasResult) return { ...job, id: jobId, tookMs };
  if (earlier) return again("had succeeded, but its result no longer exists", job);
  throw new Error(`${kind.name} job ${jobId} succeeded, but the service does not show its result`);
}

function readJob({ client }: Context, projectId: string, jobId: string, signal?: AbortSignal): Promise<Job> {
  return client.call(routes.getJob, { projectId, jobId }, { signal });
}

async function waitFor(
  context: Context,
  kind: JobKind,
  projectId: string,
  jobId: string,
  first: Job,
): Promise<Job> {
  const { clock, settings, urn, run } = context;
  const signal = run.cancelled;
  const limitMs = context.timeoutMs ?? settings[kind.limit];
  const began = clock.now();
  const usually = usualTime(kind, settings);
  const job = await watchJob(first, {
    settings,
    clock,
    limitMs,
    signal,
    readJob: () => readJob(context, projectId, jobId, signal),
    onPoll: (polled, elapsedMs) => {
      const details = [progressText(polled) ?? [], usually ? `usually ${usually}` : []].flat().join("; ");
      const words = `${polled.jobStatus} ${ms(elapsedMs)}${retriesOf(polled)}${details && ` (${details})`}`;
      return log.progress(urn, `${words}: ${kind.name} ${jobId}`);
    },
  }).catch((error) => {
    if (!signal.aborted) throw error;
    throw new Error(
      `${kind.name} job ${jobId} keeps running; the next \`pulumi up\` resumes the wait for it.`,
    );
  });
  // Replace the progress line, which still shows an earlier status.
  if (job !== first && hasEnded(job, settings)) {
    const words = `${job.jobStatus} after ${ms(clock.now() - began)}${retriesOf(job)}`;
    await log.progress(urn, `${words}: ${kind.name} ${jobId}`);
  }
  if (hasSucceeded(job)) return job;
  if (hasFailed(job, settings)) {
    const retries = job.retryCount
      ? ` after ${job.retryCount} ${job.retryCount === 1 ? "retry" : "retries"} by the service`
      : "";
    throw new Error(
      `${kind.name} job ${jobId} failed${retries}: ${failureReason(job)}. The next \`pulumi up\` submits it again.`,
    );
  }
  throw new Error(
    `${kind.name} job ${jobId} is still ${job.jobStatus} after ${ms(limitMs, { long: true })}. It keeps running; the ` +
      "next `pulumi up` waits for it and does not submit it again. " +
      (context.timeoutMs === undefined
        ? `Wait longer with \`pulumi config set recommender:${kind.limit} 12h\`.`
        : "Wait longer with the option customTimeouts."),
  );
}

function retriesOf({ retryCount }: Job): string {
  return retryCount ? `, retried ${retryCount}×` : "";
}

/**
 * Refreshes the resource of a submitted job. Its state entry is always kept, so a refresh never causes another training
 * or deployment. Only the project is read, once for all jobs of the project.
 */
export const readBack = {
  readWith: routes.getProject,

  async read<State extends { readonly projectId: string; readonly jobId: string }>(
    _id: string,
    state: State,
    context: Context,
  ): Promise<State> {
    const { client, clock, run, urn } = context;
    const { projectId, jobId } = state;
    const found = await run.projects.get(projectId, clock, async () => {
      const project = await undefinedIfMissing(client.call(routes.getProject, { projectId }));
      return new Map(project ? [[projectId, project]] : []);
    });
    if (!found.has(projectId))
      await log.warn(urn, `project ${projectId} and its job ${jobId} no longer exist in the service`);
    return state;
  },
};
