import ms from "ms";
import type { Job } from "../../client/job";
import { routes } from "../../contract";
import { type OpenService, type ServiceOptions, serviceFlags } from "../stack/service";
import { CommandError, exitCodes } from "../terminal/exit";
import { jobProgress, withProgress } from "../terminal/progress";

/**
 * Waits until a job has succeeded, and shows its progress. `timeoutMs` defaults to the configured timeout of its type.
 */
export async function waitForJob(
  { client, settings }: OpenService,
  options: ServiceOptions,
  { projectId, jobId, timeoutMs }: { projectId: string; jobId: string; timeoutMs?: number | undefined },
): Promise<Job> {
  const { failureReason, hasFailed, hasSucceeded, jobKinds, usualTime, watchJob } = await import(
    "../../client/job.js"
  );
  const { systemClock } = await import("../../client/clock.js");
  const readJob = () => client.call(routes.getJob, { projectId, jobId });
  const first = await readJob();
  const kind = jobKinds[(first.jobType ?? "").toLowerCase() as keyof typeof jobKinds] ?? jobKinds.training;
  const limitMs = timeoutMs ?? settings[kind.limit];
  const progress = jobProgress(options, { noun: kind.name, usually: usualTime(kind, settings), jobId });
  const again = `recommender jobs wait ${jobId} --project ${projectId}${serviceFlags(options)}`;
  const job = await withProgress(
    progress,
    () => `The ${kind.name} job keeps running. Wait for it with \`${again}\`.`,
    () => watchJob(first, { settings, clock: systemClock, limitMs, readJob, onPoll: progress.update }),
  );
  if (hasSucceeded(job)) return job;
  if (hasFailed(job, settings)) {
    const retries = job.retryCount
      ? ` after ${job.retryCount} ${job.retryCount === 1 ? "retry" : "retries"}`
      : "";
    throw new CommandError(
      `The ${kind.name} job ${jobId} failed${retries}: ${failureReason(job)}`,
      exitCodes.jobFailed,
    );
  }
  throw new CommandError(
    `The ${kind.name} job ${jobId} is still ${job.jobStatus} after ${ms(limitMs, { long: true })}. It keeps running. ` +
      `Wait for it with \`${again}\`.`,
    exitCodes.jobTimeout,
  );
}
