import { ReplyError } from "../../client/errors";
import { shellQuote } from "../../client/shell-quote";
import { truncate } from "../../contract/messages";
import type { Context } from "../run/context";
import { log } from "../run/engine";

/** Type of the resource that submits a job, by the type of the resource that waits for it. Both have the same name. */
export const submitters: Readonly<Record<string, string>> = {
  Model: "TrainingJob",
  Deployment: "DeploymentJob",
  UserQuery: "QueryingJob",
  UserClustering: "ClusteringJob",
  UserRecommendations: "RecommendationJob",
};

/** Whether reading a job failed because the service returned a job of another project. */
export function isJobOfOtherProject(error: unknown): error is ReplyError {
  return error instanceof ReplyError && error.isOfOtherCall;
}

/** Adds the command that submits a new job, if the error means that the job in the state belongs to another project. */
export function withWayOut(error: unknown, jobId: string, { urn = "" }: Context): unknown {
  if (!isJobOfOtherProject(error)) return error;
  const jobUrn = urn.replace(/:(\w+)::/g, (whole, type) =>
    submitters[type] ? `:${submitters[type]}::` : whole,
  );
  return new Error(
    `${error.message}. Job ${truncate(jobId)} in the state belongs to another project. Submit a new one: ` +
      `\`pulumi up --replace ${shellQuote(jobUrn)}\`.`,
    { cause: error },
  );
}

/**
 * Returns the result of reading a job whose resource is being deleted. Returns undefined, with a warning, if the job
 * belongs to another project: this stack did not submit that job, so there is nothing to delete or report.
 */
export async function ownJob<T>(read: Promise<T>, jobId: string, { urn }: Context): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (!isJobOfOtherProject(error)) throw error;
    await log.warn(urn, `Job ${truncate(jobId)} is only removed from the state: ${error.message}`);
    return undefined;
  }
}
