import type { z } from "zod";
import { undefinedIfMissing } from "../../client/refusals";
import { type Input, routes } from "../../contract";
import { id } from "../../contract/field";
import type { Noun } from "../lifecycle/noun";
import { log } from "../run/engine";
import { finishJob, type Job, type JobKind, submitJob } from "./jobs";

/** What a finished querying or clustering gives. */
export interface ResultOutputs {
  readonly jobId: string;
  readonly downloadUrl?: string;
  readonly expiredAtSec?: number;
  readonly message?: string;
}

/** What both kinds are submitted with at least. */
interface Submission {
  readonly projectId: string;
  readonly name: string;
}

type ResultRoute = typeof routes.submitQueryingJob | typeof routes.submitClusteringJob;

/** A querying or clustering: its route, its arguments, and how they become the request. */
export interface ResultKind<Args extends Submission> {
  readonly kind: JobKind;
  readonly route: ResultRoute;
  readonly args: z.ZodObject;
  readonly keys: readonly (keyof Args & string)[];
  request(args: Args): Input<ResultRoute>;
}

/** The job that was submitted, in the state before the wait for it begins; the API cannot stop or delete it. */
export function submittedJob<Args extends Submission>(
  type: string,
  { route, args, keys, request }: ResultKind<Args>,
): Noun<Args, { jobId: string }> {
  return {
    type,
    args,
    replaceOn: keys,

    async create(given, context) {
      const jobId = await submitJob(context, route, request(given));
      return { id: jobId, jobId };
    },

    async leave() {},
  };
}

/** What the result is declared with beside that. */
export const resultArgs = { submittedJobId: id.optional(), existingId: id.optional() };

/** The result of the job; the API keeps it as long as it likes, so that deleting only forgets it. */
export function finishedJob<Args extends Submission & { submittedJobId?: string; existingId?: string }>(
  type: string,
  { kind, route, args, keys, request }: ResultKind<Args>,
): Noun<Args, ResultOutputs> {
  return {
    type,
    args,
    replaceOn: [...keys, "submittedJobId"],
    // An adopted result was submitted by somebody else.
    adoptedWithout: ["submittedJobId"],

    async create(given, context) {
      const { projectId, submittedJobId: jobId = "" } = given;
      const submitAgain = (follows: string, name = given.name) =>
        submitJob(context, route, request({ ...given, name }), { follows });
      const job = await finishJob(context, { kind, projectId, jobId, submitAgain });
      // A result that holds nothing says why.
      if (job.jobResult?.message) await log.warn(context.urn, job.jobResult.message);
      return { id: job.id, ...outputs(job, job.id) };
    },

    async adoptable(jobId, { projectId }, { client }) {
      if (await undefinedIfMissing(client.call(routes.getJob, { projectId, jobId }))) return;
      throw new Error(`existingId ${jobId}: there is no such job in project ${projectId}`);
    },

    async adopt(jobId, { projectId }, { client }) {
      return outputs(await client.call(routes.getJob, { projectId, jobId }), jobId);
    },

    async read(_id, state, { client }) {
      const { projectId, jobId } = state;
      const job = await undefinedIfMissing(client.call(routes.getJob, { projectId, jobId }));
      return job && { ...state, ...outputs(job, jobId) };
    },

    async leave() {},
  };
}

function outputs({ jobResult }: Job, jobId: string): ResultOutputs {
  const { downloadUrl, expiredAtSec, message } = jobResult ?? {};
  return {
    jobId,
    ...(downloadUrl != null && { downloadUrl }),
    ...(expiredAtSec != null && { expiredAtSec }),
    ...(message != null && { message }),
  };
}
