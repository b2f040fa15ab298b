import type { Reply, routes } from "../contract";
import type { Clock } from "./clock";
import { isOnThisMachine, type Settings } from "./settings";

/** A job as the service answers it. */
export type Job = Reply<typeof routes.getJob>;

/** One of the four kinds of job: how long it may take, and what it usually takes. */
export interface JobKind {
  readonly name: string;
  readonly limit: "trainingTimeout" | "deploymentTimeout" | "queryingTimeout" | "clusteringTimeout";
  readonly usualDuration: string;
}

/** The four kinds of job. */
export const jobKinds = {
  training: { name: "training", limit: "trainingTimeout", usualDuration: "10 to 300 minutes" },
  deployment: { name: "deployment", limit: "deploymentTimeout", usualDuration: "10 to 60 minutes" },
  querying: { name: "querying", limit: "queryingTimeout", usualDuration: "10 to 60 minutes" },
  clustering: { name: "clustering", limit: "clusteringTimeout", usualDuration: "10 to 60 minutes" },
} as const satisfies Record<string, JobKind>;

/** What a job usually takes, where that is known: the times are those of the real service, not of one on this machine. */
export function usualTime(
  { usualDuration }: JobKind,
  { baseUrl }: Pick<Settings, "baseUrl">,
): string | undefined {
  return isOnThisMachine(baseUrl) ? undefined : usualDuration;
}

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

/** Whether a job has done what it was submitted for. */
export function hasSucceeded(job: Job): boolean {
  return successWords.has(job.jobStatus.toUpperCase());
}

/** Whether a job has failed. */
export function hasFailed(job: Job, { failedJobStatuses }: Settings): boolean {
  const word = job.jobStatus.toUpperCase();
  return failureWords.has(word) || failedJobStatuses.includes(word);
}

/** Whether a job is at an end, for better or worse. */
export function hasEnded(job: Job, settings: Settings): boolean {
  return hasSucceeded(job) || hasFailed(job, settings);
}

/** Why a job failed, as far as the service says. */
export function failureReason(job: Job): string {
  // The sentence around it has a full stop of its own.
  return job.jobResult?.message?.replace(/\.+\s*$/, "") ?? `the service says ${job.jobStatus} and no more`;
}

/** How far a job is, in words, as far as the service says. */
export function progressText({ jobData }: Job): string | undefined {
  const { phase, fraction, ndcgAt20 } = jobData?.progress ?? {};
  if (phase == null) return undefined;
  const share = fraction == null ? "" : ` ${Math.floor(100 * fraction)} %`;
  return `${phase}${share}${ndcgAt20 == null ? "" : `, NDCG@20 ${ndcgAt20.toFixed(4)} so far`}`;
}

/** How a job is watched. */
export interface Watch {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly limitMs: number;
  /** Ends the watch with its reason. */
  readonly signal?: AbortSignal;
  readonly readJob: () => Promise<Job>;
  /** Called with each status of a job that is not over. */
  readonly onPoll: (job: Job, elapsedMs: number) => void | Promise<void>;
}

/** Looks at a job, at first often and then ever less so, until it is over or the time is up; gives the last look. */
export async function watchJob(first: Job, watch: Watch): Promise<Job> {
  const { settings, clock, limitMs, signal, readJob, onPoll } = watch;
  const began = clock.now();
  let pauseMs: number = Math.min(settings.jobPollMs, longestPauseMs);
  for (let job = first; ; job = await readJob()) {
    const elapsedMs = clock.now() - began;
    if (hasEnded(job, settings) || elapsedMs >= limitMs) return job;
    await onPoll(job, elapsedMs);
    await clock.sleep(Math.min(pauseMs, limitMs - elapsedMs), signal);
    pauseMs = Math.min(longestPauseMs, pauseMs * growth);
  }
}
