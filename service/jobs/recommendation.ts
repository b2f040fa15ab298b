import type { Request, Rules, routes } from "../../contract";
import { tracedPart } from "../../telemetry/tracing";
import { modelSource } from "../files/models";
import { addChunk, type Chunk, chunksOf, dropChunks } from "../store/chunks";
import { projectOf } from "../store/find";
import { forgottenSince } from "../store/forgotten";
import { jobUsersOf } from "../store/job-users";
import { projectData } from "../store/project-data";
import { succeed } from "../store/queue";
import type { Job } from "../store/tables";
import type { RecommendationTask } from "../threads/recommendation";
import type { JobContext } from "./context";
import { endWithSuccess } from "./ending";
import { removeEnded } from "./failure";
import { mostOutdated, outdated } from "./result";

/** Data of a recommendation job: the request with the models and rules to use. */
type RecommendationJobData = Pick<
  Request<(typeof routes)["submitRecommendationJob"]>,
  "query" | "limit" | "attributes" | "filterQuery" | "excludeItemIds" | "includeItemIds" | "format"
> & {
  readonly modelId?: string;
  readonly generatorModelId?: string;
  readonly rankerModelId?: string | null;
  readonly rules?: Rules;
  /** Number of users that the job is limited to. Their ids are in a separate table. */
  readonly listedUsers?: number;
};

/**
 * Recommends items to many users. The results are collected in chunks, so an interrupted job continues where it stopped.
 * At the end, the chunks are combined into a file without the users who were forgotten meanwhile.
 */
export async function runRecommendation(job: Job, context: JobContext, signal: AbortSignal): Promise<void> {
  const asked = JSON.parse(job.data) as RecommendationJobData;
  const task = await taskOf(job, asked, context);
  const chunks = await tracedPart({ name: "phase compute" }, () => writeChunks(job, task, context, signal));
  await tracedPart({ name: "phase combine" }, () =>
    combine(job, { ...task, asked }, chunks, context, signal),
  );
  await removeEnded(job, context);
}

async function taskOf(
  job: Job,
  asked: RecommendationJobData,
  context: JobContext,
): Promise<RecommendationTask> {
  const { store } = context;
  const { modelId, generatorModelId, rankerModelId = null, rules } = asked;
  return {
    kind: "RECOMMENDATION",
    projectId: job.project_id,
    data: await projectData(store.db, await projectOf(store.db, job.project_id)),
    generator: await modelSource(context, (modelId ?? generatorModelId) as string),
    ranker: rankerModelId === null ? null : await modelSource(context, rankerModelId),
    rules: rules ? JSON.stringify(rules) : null,
    isShared: store.isShared,
    asked,
    job: { id: job.id, attempt: job.attempt },
    done: await chunksOf(store.db, job.id),
    ...(asked.listedUsers !== undefined && { userIds: await jobUsersOf(store.db, job.id) }),
  };
}

/** Writes the chunks that are missing. Each is recorded before the next one, so the recorded ones have no gap. */
async function writeChunks(
  job: Job,
  task: RecommendationTask,
  { store, pool }: JobContext,
  signal: AbortSignal,
): Promise<readonly Chunk[]> {
  const chunks = [...task.done];
  const failed = new AbortController();
  let recorded = Promise.resolve();
  const onChunk = (chunk: Chunk) => {
    chunks.push(chunk);
    recorded = recorded.then(() => store.concurrently((db) => addChunk(db, job, chunk)));
    recorded.catch((error) => failed.abort(error));
  };
  // If the thread fails, the chunks that it has written are still recorded for the next attempt.
  await pool
    .run(task, AbortSignal.any([signal, failed.signal]), onChunk)
    .finally(() => recorded.catch(() => undefined));
  await recorded;
  return chunks;
}

/** Writes the result until no user was forgotten meanwhile, and ends the job. */
async function combine(
  job: Job,
  { data, asked }: Pick<RecommendationTask, "data"> & { readonly asked: RecommendationJobData },
  chunks: readonly Chunk[],
  context: JobContext,
  signal: AbortSignal,
): Promise<void> {
  const { pool, clock } = context;
  const attempt = { id: job.id, attempt: job.attempt };
  for (let runs = 0; runs < mostOutdated; runs++) {
    const task = { kind: "RECOMMENDATION_FILE" as const, data, asked, job: attempt, chunks };
    const { users, deletions } = await pool.run(task, signal);
    const isOutdated = await endWithSuccess(job, context, signal, async (db) => {
      if ((await forgottenSince(db, data.events.id, deletions)).size > 0) return true;
      await dropChunks(db, job.id);
      const result = { userCount: users, message: messageFor(users, asked) };
      await succeed(db, job, { result, now: clock.now() });
      return false;
    });
    if (!isOutdated) return;
  }
  throw outdated(job);
}

/** Returns a message if users are missing in the result. */
function messageFor(users: number, { listedUsers }: RecommendationJobData): string | null {
  if (listedUsers !== undefined && users < listedUsers)
    return `${listedUsers - users} of ${listedUsers} listed users have neither a record nor events, so they were left out.`;
  return users === 0 ? "There is no user to recommend items to." : null;
}
