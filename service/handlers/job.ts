import type { FullReply, routes } from "../../contract";
import { type Origin, stableAddress } from "../../contract/origin";
import { notFound, ServiceError } from "../base/error";
import { downloadUrl } from "../files/download";
import { requireSyntax } from "../serving/rules/syntax";
import type { Db } from "../store/database";
import { algorithmOf, findDataset, modelOf, projectOf } from "../store/find";
import { addJobUsers, jobUsersOf } from "../store/job-users";
import { enqueue, type Retry } from "../store/queue";
import type { Job, ProjectTable } from "../store/tables";
import type { Call, Handlers } from "./handler";
import { originIn } from "./origin";

type JobReply = FullReply<(typeof routes)["getJob"]>;

/** Operations on jobs: one per job type of the specification to submit a job, and one to read any job. */
export const jobHandlers: Handlers<
  "submitTrainingJob" | "submitDeploymentJob" | "submitQueryingJob" | "submitClusteringJob" | "getJob"
> = {
  submitTrainingJob: ({ projectId, algorithmId, name }, call) =>
    submit(call, async (db) => {
      const project = await projectOf(db, projectId);
      const algorithm = await algorithmOf(db, projectId, algorithmId);
      await refuseWithoutEvents(db, project);
      return {
        projectId,
        jobType: "TRAINING" as const,
        name,
        data: {
          algorithmType: algorithm.algorithm_type,
          algorithmParameters: JSON.parse(algorithm.algorithm_parameters),
        },
      };
    }),

  submitDeploymentJob: async ({ projectId, name, generatorModelId, rankerModelId, qps, rules }, call) => {
    if (rules) await requireSyntax(rules);
    return submit(call, async (db) => {
      await modelOf(db, projectId, generatorModelId);
      if (rankerModelId !== undefined) await modelOf(db, projectId, rankerModelId);
      const data = { generatorModelId, rankerModelId: rankerModelId ?? null, qps, ...(rules && { rules }) };
      return { projectId, jobType: "DEPLOYMENT" as const, name, data };
    });
  },

  submitQueryingJob: ({ projectId, name, ...data }, call) =>
    submit(call, async (db) => {
      await modelOf(db, projectId, data.modelId);
      return { projectId, jobType: "QUERYING" as const, name, data };
    }),

  submitClusteringJob: ({ projectId, name, ...data }, call) =>
    submit(call, async (db) => {
      await modelOf(db, projectId, data.modelId);
      return { projectId, jobType: "CLUSTERING" as const, name, data };
    }),

  getJob: async ({ projectId, jobId }, call) => {
    await projectOf(call.db, projectId);
    const job = await call.db
      .selectFrom("jobs")
      .selectAll()
      .where("id", "=", jobId)
      .where("project_id", "=", projectId)
      .executeTakeFirst();
    if (!job)
      throw notFound("job", jobId, `use a job_id that a submit call for project ${projectId} returned`);
    return {
      projectId,
      jobId,
      jobType: job.job_type,
      createdTs: job.created_ts,
      name: job.name,
      // The fields depend on the type of the job.
      jobData: await dataOf(job, call.db),
      jobResult: resultOf(job, call) as JobReply["jobResult"],
      jobStatus: job.status,
      retryCount: job.retry_count,
    };
  },
};

/** Leaves out fields that only the console shows, and the progress once the job has ended. */
async function dataOf({ id, data, status }: Job, db: Db): Promise<JobReply["jobData"]> {
  const {
    progress,
    retries: _,
    trials: __,
    origin: ___,
    traceParent: ____,
    listedUsers,
    ...others
  } = JSON.parse(data) as NonNullable<JobReply["jobData"]> & {
    retries?: readonly Retry[];
    trials?: readonly number[];
    origin?: Origin;
    traceParent?: string;
    listedUsers?: number;
  };
  return {
    ...others,
    ...(status === "RUNNING" && progress && { progress }),
    ...(listedUsers !== undefined && { userIds: await jobUsersOf(db, id) }),
  } as JobReply["jobData"];
}

/** Fields of a job for the queue, and the users that it is limited to. */
type Prepared = Omit<Parameters<typeof enqueue>[1], "requestId" | "now"> & {
  readonly userIds?: readonly string[] | undefined;
};

/** Puts a job into the queue. */
export async function submit(call: Call, prepare: (db: Db) => Promise<Prepared>): Promise<{ jobId: string }> {
  const origin = originIn(call);
  const { traceParent } = call;
  const reply = await call.write(async (db) => {
    const { data, userIds, ...job } = await prepare(db);
    const jobId = await enqueue(db, {
      ...job,
      data: { ...data, ...(origin && { origin }), ...(traceParent && { traceParent }) },
      requestId: call.requestId,
      now: call.clock.now(),
    });
    if (userIds) await addJobUsers(db, jobId, userIds);
    return { jobId };
  });
  call.jobs.wake();
  return reply;
}

async function refuseWithoutEvents(db: Db, project: ProjectTable): Promise<void> {
  if (await findDataset(db, "event", project.event_dataset_id)) return;
  throw new ServiceError(
    "CONFLICT",
    `The event dataset ${project.event_dataset_id} of project ${project.id} was deleted. Create a project with another event dataset.`,
  );
}

/** Returns a job's result. Adds addresses now, because a restart may have changed the address of the service. */
function resultOf(job: Job, call: Call): object | null {
  if (job.result === null) return null;
  const result = JSON.parse(job.result) as object;
  if (job.status !== "SUCCEED") return result;
  if (job.job_type === "DEPLOYMENT") {
    const { origin } = JSON.parse(job.data) as { origin?: Origin };
    const stableServingUri = origin && call.addresses.stableServingUri(stableAddress(origin));
    return {
      ...result,
      servingUri: call.addresses.servingUri(job.project_id),
      ...(origin && { stableServingUri }),
    };
  }
  if (job.job_type === "TRAINING") return result;
  return { ...downloadUrl(call, job.id, job.finished_ts as number), ...result };
}
