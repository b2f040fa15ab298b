import type { Reply, routes } from "../contract";
import { traced, untraced } from "../telemetry/tracing";
import { isOnThisMachine } from "./address";
import type { Clock } from "./clock";
import type { Settings } from "./settings";

/** A job, as the service returns it. */
export type Job = Reply<typeof routes.getJob>;

/** A type of job, with the name of its timeout setting and its usual duration. */
export interface JobKind {
  readonly name: string;
  readonly limit:
    | "trainingTimeout"
    | "deploymentTimeout"
    | "queryingTimeout"
    | "clusteringTimeout"
    | "recommendationTimeout";
  readonly usually: string;
}

/** The types of jobs. */
export const jobKinds = {
  training: { name: "training", limit: "trainingTimeout", usually: "10 to 300 minutes" },
  deployment: { name: "deployment", limit: "deploymentTimeout", usually: "10 to 60 minutes" },
  querying: { name: "querying", limit: "queryingTimeout", usually: "10 to 60 minutes" },
  clustering: { name: "clustering", limit: "clusteringTimeout", usually: "10 to 60 minutes" },
  recommendation: {
    name: "recommendation",
    limit: "recommendationTimeout",
    usually: "1 to 60 minutes",
  },
} as const satisfies Record<string, JobKind>;

/** Returns the usual duration of a job, or undefined for a service on this machine, which is much faster. */
export function usualTime({ usually }: JobKind, { baseUrl }: Pick<Settings, "baseUrl">): string | undefined {
  return isOnThisMachine(baseUrl) ? undefined : usually;
}

const maxPollIntervalMs = 30_000;
const pollIntervalGrowth = 1.2;

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

/** Whether a job has succeeded. */
export function hasSucceeded(job: Job): boolean {
  return successWords.has(job.jobStatus.toUpperCase());
}

/** Whether a job has failed. */
export function hasFailed(job: Job, { failedJobStatuses }: Settings): boolean {
  const word = job.jobStatus.toUpperCase();
  return failureWords.has(word) || failedJobStatuses.includes(word);
}

/** Whether a job has succeeded or failed. */
export function hasEnded(job: Job, settings: Settings): boolean {
  return hasSucceeded(job) || hasFailed(job, settings);
}

/** Returns the reason why a job failed, without a full stop. */
export function failureReason(job: Job): string {
  return (
    job.jobResult?.message?.replace(/\.+\s*$/, "") ?? `the service reports ${job.jobStatus} without a reason`
  );
}

/** Describes the progress of a job, or returns undefined if the service does not report it. */
export function progressText({ jobData }: Job): string | undefined {
  const { phase, fraction, ndcgAt20 } = jobData?.progress ?? {};
  if (phase == null) return undefined;
  const share = fraction == null ? "" : ` ${Math.floor(100 * fraction)} %`;
  return `${phase}${share}${ndcgAt20 == null ? "" : `, NDCG@20 ${ndcgAt20.toFixed(4)} so far`}`;
}

/** How to wait for a job. */
export interface Watch {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly limitMs: number;
  /** If aborted, the wait ends with the signal's reason. */
  readonly signal?: AbortSignal;
  readonly readJob: () => Promise<Job>;
  /** Called after each poll if the job has not ended. */
  readonly onPoll: (job: Job, elapsedMs: number) => void | Promise<void>;
}

/** Polls a job with growing intervals until it ends or the time limit is reached. Returns its last state. */
export async function watchJob(first: Job, watch: Watch): Promise<Job> {
  const [type, id] = [first.jobType ?? undefined, first.jobId ?? undefined];
  const attributes = { "recommender.job.type": type, "recommender.job.id": id };
  return traced({ name: `wait for job ${type ?? ""}`.trimEnd(), attributes }, () => poll(first, watch));
}

async function poll(first: Job, watch: Watch): Promise<Job> {
  const { settings, clock, limitMs, signal, readJob, onPoll } = watch;
  const began = clock.now();
  let intervalMs: number = Math.min(settings.jobPollMs, maxPollIntervalMs);
  for (let job = first; ; job = await untraced(readJob)) {
    const elapsedMs = clock.now() - began;
    if (hasEnded(job, settings) || elapsedMs >= limitMs) return job;
    await onPoll(job, elapsedMs);
    await clock.sleep(Math.min(intervalMs, limitMs - elapsedMs), signal);
    intervalMs = Math.min(maxPollIntervalMs, intervalMs * pollIntervalGrowth);
  }
}
