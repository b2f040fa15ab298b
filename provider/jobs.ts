import ms from "ms";
import { type Input, type Reply, type Route, routes } from "../contract";
import { gone } from "./absence";
import { type Creation, createOnce } from "./creation";
import { say } from "./engine-log";
import type { Context } from "./lifecycle";
import type { Settings } from "./settings";

/** A job as the service answers it. */
export type Job = Reply<typeof routes.getJob>;

/** One of the four kinds of job: how long it may take, and what it usually takes. */
export interface JobKind {
  readonly noun: string;
  readonly limit: "trainingTimeout" | "deploymentTimeout" | "queryingTimeout" | "clusteringTimeout";
  readonly usually: string;
}

/** The four kinds of job. */
export const jobKinds = {
  training: { noun: "training", limit: "trainingTimeout", usually: "10 to 300 minutes" },
  deployment: { noun: "deployment", limit: "deploymentTimeout", usually: "10 to 60 minutes" },
  querying: { noun: "querying", limit: "queryingTimeout", usually: "10 to 60 minutes" },
  clustering: { noun: "clustering", limit: "clusteringTimeout", usually: "10 to 60 minutes" },
} as const satisfies Record<string, JobKind>;

const longestPauseMs = 30_000;
const growth = 1.2;

const successWords = new Set(["SUCCEED", "SUCCEEDED", "SUCCESS"]);
const failureWords = new Set([
  "FAILED",
  "FAIL",
  "FAILURE",
  "ERROR",
  "CANCELED",
  "CANCELLED",
  "ABORTED",
  "TIMED_OUT",
]);

type SubmitRoute = Route & { readonly reply: (typeof routes.submitTrainingJob)["reply"] };

/** What a submission may add. */
type SubmissionOptions<Listed> = Pick<Creation<SubmitRoute, Listed>, "identity" | "key" | "look" | "isThere">;

/** Submits a job, once, and gives its id without waiting for it, so that the engine can write the id down first. */
export async function submitJob<R extends SubmitRoute, Listed = never>(
  context: Context,
  route: R,
  request: Input<R> & { readonly projectId: string; readonly name: string },
  options: SubmissionOptions<Listed> = {},
): Promise<string> {
  // The name of a job is for people: another one does not make it another job.
  const { name: _, ...identity } = request;
  const { reply, takenUp } = await createOnce<SubmitRoute, Listed>(context, {
    idOf: ({ jobId }) => jobId,
    isThere: async ({ jobId }) => (await gone(look(context, request.projectId, jobId))) !== undefined,
    ...{ route, request, identity, ...options },
  });
  if (!takenUp) context.run.submitted.add(reply.jobId);
  return reply.jobId;
}

/** A job that was submitted, and how to submit it once more. */
export interface Submitted {
  readonly kind: JobKind;
  readonly projectId: string;
  readonly jobId: string;
  /** Submits it again under a key that makes this the same call, should it be made twice. */
  readonly submitAgain: (key: string) => Promise<string>;
  /** Whether what the job made is still there; a job of an earlier run whose result is gone is submitted again. */
  readonly resultIsThere?: (job: Job, earlier: boolean) => Promise<boolean>;
}

/**
 * Waits until a job has succeeded.
 * A job that an earlier run left failed, or whose result is gone since, is submitted again.
 */
export async function finishJob(context: Context, submitted: Submitted): Promise<Job & { id: string }> {
  const { kind, projectId, jobId } = submitted;
  const earlier = !context.run.submitted.has(jobId);
  const again = async (why: string) => {
    await say.info(context.urn, `${kind.noun} job ${jobId} ${why}; submitting it again`);
    return finishJob(context, { ...submitted, jobId: await submitted.submitAgain(`again-${jobId}`) });
  };
  const first = await gone(look(context, projectId, jobId));
  if (!first) {
    if (earlier) return again("is not known to the service any more");
    throw new Error(`${kind.noun} job ${jobId} was submitted just now, but the service does not know it`);
  }
  if (earlier && hasFailed(first, context.settings)) return again(`had failed (${reason(first)})`);
  const job = await waitFor(context, kind, projectId, jobId, first);
  const there = (await submitted.resultIsThere?.(job, earlier)) ?? true;
  if (there) return { ...job, id: jobId };
  if (earlier) return again("had succeeded, but its result is gone");
  throw new Error(`${kind.noun} job ${jobId} succeeded, but the service does not show its result`);
}

/** Whether a job is at an end, for better or worse. */
export function isOver(job: Job, settings: Settings): boolean {
  return successWords.has(job.jobStatus.toUpperCase()) || hasFailed(job, settings);
}

function look({ client }: Context, projectId: string, jobId: string): Promise<Job> {
  return client.call(routes.getJob, { projectId, jobId });
}

async function waitFor(
  context: Context,
  kind: JobKind,
  projectId: string,
  jobId: string,
  first: Job,
): Promise<Job> {
  const { clock, settings, urn } = context;
  const began = clock.now();
  const limitMs = settings[kind.limit];
  let pauseMs: number = Math.min(settings.jobPollMs, longestPauseMs);
  for (let job = first; ; job = await look(context, projectId, jobId)) {
    if (successWords.has(job.jobStatus.toUpperCase())) return job;
    if (hasFailed(job, settings)) {
      const retries = job.retryCount ? ` after ${job.retryCount} retries of the service` : "";
      throw new Error(
        `${kind.noun} job ${jobId} failed${retries}: ${reason(job)}. The next \`pulumi up\` submits it again.`,
      );
    }
    const elapsedMs = clock.now() - began;
    if (elapsedMs >= limitMs) {
      throw new Error(
        `${kind.noun} job ${jobId} is still ${job.jobStatus} after ${ms(limitMs, { long: true })}. It goes on; the ` +
          "next `pulumi up` waits for it and does not submit it again. " +
          `Wait longer with \`pulumi config set recommender:${kind.limit} 12h\`.`,
      );
    }
    await say.progress(urn, progressText(kind, jobId, job, elapsedMs));
    await clock.sleep(Math.min(pauseMs, limitMs - elapsedMs));
    pauseMs = Math.min(longestPauseMs, pauseMs * growth);
  }
}

function progressText(kind: JobKind, jobId: string, job: Job, elapsedMs: number): string {
  const retries = job.retryCount ? `, retried ${job.retryCount}×` : "";
  return `${kind.noun} ${jobId}: ${job.jobStatus} for ${ms(elapsedMs)}${retries} (usually ${kind.usually})`;
}

function hasFailed(job: Job, settings: Settings): boolean {
  const word = job.jobStatus.toUpperCase();
  return failureWords.has(word) || settings.failedJobStatuses.includes(word);
}

function reason(job: Job): string {
  return job.jobResult?.message ?? `the service says ${job.jobStatus} and no more`;
}
