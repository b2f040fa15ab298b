import type { Request, routes } from "../../contract";
import { tracedPart } from "../../telemetry/tracing";
import { JobError, OutdatedError } from "../base/job-error";
import { type ModelSource, modelSource } from "../files/models";
import { projectOf } from "../store/find";
import { deletionCount, forgottenSince } from "../store/forgotten";
import { type ProjectData, projectData } from "../store/project-data";
import { outdatedRuns, succeed } from "../store/queue";
import type { Job } from "../store/tables";
import type { JobContext } from "./context";
import { endWithSuccess } from "./ending";

type Querying = Request<(typeof routes)["submitQueryingJob"]>;
type Clustering = Request<(typeof routes)["submitClusteringJob"]>;

/** Runs a query. Its files are written before the job succeeds. */
export async function runQuerying(job: Job, context: JobContext, signal: AbortSignal): Promise<void> {
  const { pool } = context;
  const query = JSON.parse(job.data) as Querying;
  await finish(job, context, signal, query.modelId, async (data, model) => {
    const task = {
      kind: "QUERYING" as const,
      data,
      model,
      query: { queryType: query.queryType, queries: query.queries } as Querying,
      job: { id: job.id, attempt: job.attempt },
    };
    const { message } = await pool.run(task, signal);
    const charts =
      "Add &format=svg to the address to get the chart, and &query=1 and so on for the other queries.";
    const hint = query.queryType === "user_distribution" ? charts : null;
    return { message: [message, hint].filter(Boolean).join(" ") || null };
  });
}

/** Runs a clustering. Its file is written before the job succeeds. */
export async function runClustering(job: Job, context: JobContext, signal: AbortSignal): Promise<void> {
  const { pool } = context;
  const { modelId, parameters } = JSON.parse(job.data) as Clustering;
  const { minUserNum } = parameters;
  const attempt = { id: job.id, attempt: job.attempt };
  await finish(job, context, signal, modelId, (data, model) =>
    pool.run({ kind: "CLUSTERING", data, model, minUserNum, job: attempt }, signal),
  );
}

/**
 * Number of outdated runs after which a job fails. Without a limit, it could run forever while users are being deleted.
 */
export const mostOutdated = 10;

/**
 * Runs `work` and ends the job. If a user was forgotten meanwhile, the job runs again, because the result may list that
 * user.
 */
async function finish(
  job: Job,
  context: JobContext,
  signal: AbortSignal,
  modelId: string,
  work: (data: ProjectData, model: ModelSource) => Promise<{ message: string | null }>,
): Promise<void> {
  const { store, clock } = context;
  const data = await projectData(store.db, await projectOf(store.db, job.project_id));
  const before = await deletionCount(store.db, data.events.id);
  const source = await modelSource(context, modelId);
  const result = await tracedPart({ name: "phase compute" }, () => work(data, source));
  await endWithSuccess(job, context, signal, async (db) => {
    if ((await forgottenSince(db, data.events.id, before)).size > 0) throw outdated(job);
    await succeed(db, job, { result, now: clock.now() });
  });
}

/** Returns the error for a job whose result was outdated. It runs again unless this has happened too often. */
export function outdated(job: Job): Error {
  if (outdatedRuns(job) + 1 < mostOutdated)
    return new OutdatedError("Events of a user were deleted while the job ran, so it runs again.");
  return new JobError(
    `Events of users were deleted during ${mostOutdated} runs of the job. ` +
      "Submit it again when fewer users are being deleted.",
  );
}
