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
import { type Input, type Route, routes } from "../../contract";
import { truncate } from "../../contract/messages";
import { createOnce } from "../recovery/create-once";
import type { Creation } from "../recovery/creation";
import { digest } from "../recovery/journal";
import type { Context } from "../run/context";
import { log } from "../run/engine";

export { hasEnded, type Job, type JobKind, jobKinds } from "../../client/job";

type SubmitRoute = Route & { readonly reply: (typeof routes.submitTrainingJob)["reply"] };

/** What a submission may add. */
interface SubmissionOptions<Listed>
  extends Partial<
    Pick<Creation<SubmitRoute, Listed>, "idOf" | "identity" | "findLost" | "adopt" | "isThere">
  > {
  /** What it follows from, such as `again-job-1`: it is submitted once for that, on any machine under the same name. */
  readonly follows?: string | undefined;
}

/** Submits a job once and returns its id without waiting for it, so that the engine can store the id first. */
export async function submitJob<R extends SubmitRoute, Listed = never>(
  context: Context,
  route: R,
  request: Input<R> & { readonly projectId: string; readonly name: string },
  { follows, ...options }: SubmissionOptions<Listed> = {},
): Promise<string> {
  // The name of a job is for people: a job with another name is the same job.
  const { name, ...identity } = request;
  // But it is another call, which a service refuses under the key of the first for as long as it keeps that key.
  const once = follows && { identity: follows, key: `${follows}-${digest(name)}` };
  const { reply, resumed } = await createOnce<SubmitRoute, Listed>(context, {
    idOf: ({ jobId }) => jobId,
    isThere: async ({ jobId }) =>
      (await undefinedIfMissing(readJob(context, request.projectId, jobId))) !== undefined,
    adopt: (jobId) => adoptJob(jobId, request, context),
    ...{ route, request, identity, ...options, ...once },
  });
  if (!resumed) {
    context.run.submitted.add(reply.jobId);
    context.run.submittedAt.set(reply.jobId, context.clock.now());
  }
  return reply.jobId;
}

/** Adopts the job that, according to the user, a submission without a response has started. */
export async function adoptJob(
  jobId: string,
  { projectId }: { readonly projectId: string },
  context: Context,
): Promise<{ jobId: string }> {
  if (await undefinedIfMissing(readJob(context, projectId, jobId))) return { jobId };
  throw new Error(`Cannot adopt job ${truncate(jobId)}: project ${truncate(projectId)} has no such job`);
}

/** Why something cannot be declared that waits for a job: there is none to wait for. In TypeScript there always is. */
export function missingJobError(
  type: string,
  component: string,
  { submittedJobId, existingId }: { readonly submittedJobId?: unknown; readonly existingId?: unknown },
): string | undefined {
  if (submittedJobId !== undefined || existingId !== undefined) return undefined;
  return (
    `set submittedJobId, the jobId of a ${type}, or existingId to adopt what exists; ` +
    `a ${component} declares this and its ${type} in one`
  );
}

/** A job that was submitted, and how to submit it once more. */
export interface Submitted {
  readonly kind: JobKind;
  readonly projectId: string;
  readonly jobId: string;
  /**
   * Submits it once more, as what follows from the given; under the name it had, where that is known, so that it is the
   * same call for a machine on which the name was changed since.
   */
  readonly submitAgain: (follows: string, name: string | undefined) => Promise<string>;
  /** Reads a job; by default from the service. */
  readonly readJob?: (jobId: string) => Promise<Job>;
  /** Whether the result of the job still exists; a job of an earlier run whose result is gone is submitted again. */
  readonly resultIsThere?: (job: Job, earlier: boolean) => Promise<boolean>;
}

/** A job that has succeeded. */
export interface FinishedJob extends Job {
  readonly id: string;
  /** How long it took; unknown if an earlier run submitted it. */
  readonly tookMs: number | undefined;
}

/**
 * Waits until a job has succeeded.
 * A job that an earlier run left failed, or whose result is gone since, is submitted again.
 */
export async function finishJob(context: Context, submitted: Submitted): Promise<FinishedJob> {
  const { kind, projectId, jobId } = submitted;
  const earlier = !context.run.submitted.has(jobId);
  const again = async (why: string, { name }: { readonly name?: string | null | undefined } = {}) => {
    const next = await submitted.submitAgain(`again-${jobId}`, name ?? undefined);
    // What an earlier run has submitted again was reported by that run.
    if (context.run.submitted.has(next))
      await log.info(context.urn, `${kind.name} job ${jobId} ${why}; submitted again as ${next}`);
    return finishJob(context, { ...submitted, jobId: next });
  };
  const first = await undefinedIfMissing(submitted.readJob?.(jobId) ?? readJob(context, projectId, jobId));
  if (!first) {
    if (earlier) return again("is no longer known to the service");
    throw new Error(`${kind.name} job ${jobId} was submitted just now, but the service does not know it`);
  }
  if (earlier && hasFailed(first, context.settings))
    return again(`had failed (${failureReason(first)})`, first);
  const job = await waitFor(context, kind, projectId, jobId, first);
  const there = (await submitted.resultIsThere?.(job, earlier)) ?? true;
  const submittedAt = context.run.submittedAt.get(jobId);
  const tookMs = submittedAt === undefined ? undefined : context.clock.now() - submittedAt;
  if (there) return { ...job, id: jobId, tookMs };
  if (earlier) return again("had succeeded, but its result is gone", job);
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
    onPoll: (seen, elapsedMs) => {
      const how = [progressText(seen) ?? [], usually ? `usually ${usually}` : []].flat().join("; ");
      const words = `${seen.jobStatus} ${ms(elapsedMs)}${retriesOf(seen)}${how && ` (${how})`}`;
      return log.progress(urn, `${words}: ${kind.name} ${jobId}`);
    },
  }).catch((error) => {
    if (!signal.aborted) throw error;
    throw new Error(
      `${kind.name} job ${jobId} keeps running; the next \`pulumi up\` resumes the wait for it.`,
    );
  });
  // Otherwise the line would keep showing the last status before the end.
  if (job !== first && hasEnded(job, settings)) {
    const words = `${job.jobStatus} after ${ms(clock.now() - began)}${retriesOf(job)}`;
    await log.progress(urn, `${words}: ${kind.name} ${jobId}`);
  }
  if (hasSucceeded(job)) return job;
  if (hasFailed(job, settings)) {
    const retries = job.retryCount ? ` after ${job.retryCount} retries of the service` : "";
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
