import { z } from "zod";
import { undefinedIfMissing } from "../../client/error-meaning";
import { type Input, routes } from "../../contract";
import { id } from "../../contract/field";
import { truncate } from "../../contract/messages";
import { fieldsOf, knownFields } from "../lifecycle/arguments";
import { type ObjectSchema, secret } from "../lifecycle/definition";
import { lifecycle } from "../lifecycle/lifecycle";
import { log } from "../run/engine";
import { finishJob, type Job, type JobKind, missingJobError, readBack, submitJob } from "./jobs";

const resultOutputs = z.object({
  jobId: id,
  // Secret, because a download needs no further credentials.
  downloadUrl: secret(z.string().optional()),
  expiredAtSec: z.number().optional(),
  message: z.string().optional(),
});

type ResultOutputs = z.output<typeof resultOutputs>;

type ResultRoute =
  | typeof routes.submitQueryingJob
  | typeof routes.submitClusteringJob
  | typeof routes.submitRecommendationJob;

/** Kind of job that has a result to download. */
export interface ResultKind {
  readonly kind: JobKind;
  readonly route: ResultRoute;
  readonly fields: z.ZodObject;
  /** Returns the argument schema: the fields of the request and `more`. */
  args(more: z.ZodRawShape): z.ZodObject;
}

/** Arguments that all these jobs have in common. */
interface Declared {
  readonly projectId: string;
  readonly name: string;
  readonly submittedJobId?: string | undefined;
  readonly existingId?: string | undefined;
}

function requestOf({ fields }: ResultKind, args: Declared): Input<ResultRoute> {
  return fieldsOf(fields, args) as Input<ResultRoute>;
}

/**
 * Lifecycle of a submitted job. The job's id is in the state before the wait begins. The API cannot stop or delete a
 * job.
 */
export function submittedJob(type: string, kind: ResultKind) {
  return lifecycle({
    type,
    args: kind.args({}) as ObjectSchema<Declared>,
    outputs: z.object({ jobId: id }),
    replaceOn: Object.keys(kind.fields.shape) as (keyof Declared)[],

    calls: () => ({ create: [kind.route] }),

    async create(given, context) {
      const jobId = await submitJob(context, kind.route, requestOf(kind, given));
      return { id: jobId, jobId };
    },

    ...readBack,

    async leave() {},
  });
}

const resultArgs = {
  submittedJobId: id.optional().describe("Id of the job: `jobId` of the resource that submits it."),
  existingId: id.optional(),
};

/**
 * Lifecycle of a job's result. Deleting the resource only removes it from the state, because the service decides when
 * results expire.
 */
export function finishedJob(type: string, job: string, result: ResultKind) {
  const { kind, route, fields } = result;
  return lifecycle({
    type,
    args: result.args(resultArgs) as ObjectSchema<Declared>,
    outputs: resultOutputs,
    replaceOn: [...(Object.keys(fields.shape) as (keyof Declared)[]), "submittedJobId"],
    // An adopted result has no submitted job in this stack.
    adoptedWithout: ["submittedJobId"],

    validate: (args) => missingJobError(job, `${type}Result`, args),

    calls: () => ({ create: [routes.getJob], adopt: [routes.getJob] }),

    async create(given, context) {
      const { projectId, submittedJobId: jobId = "" } = given;
      const submitAgain = (follows: string, name = given.name) =>
        submitJob(context, route, requestOf(result, { ...given, name }), { follows });
      const job = await finishJob(context, { kind, projectId, jobId, submitAgain });
      // For example, the message explains why a result is empty.
      if (job.jobResult?.message) await log.warn(context.urn, job.jobResult.message);
      return { id: job.id, ...outputs(job, job.id) };
    },

    async assertAdoptable(jobId, { projectId }, { client }) {
      if (await undefinedIfMissing(client.call(routes.getJob, { projectId, jobId }))) return;
      throw new Error(
        `existingId ${truncate(jobId)}: there is no such job in project ${truncate(projectId)}`,
      );
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
  });
}

function outputs({ jobResult }: Job, jobId: string): ResultOutputs {
  const { downloadUrl, expiredAtSec, message } = jobResult ?? {};
  return { jobId, ...knownFields({ downloadUrl, expiredAtSec, message }) };
}
