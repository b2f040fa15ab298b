import type { JsonMap } from "../../contract";
import { newId } from "../base/id";
import { removeForgottenUsers } from "../serving/forgetting";
import { lastSeqIn } from "../store/events";
import { nextNumber, projectOf } from "../store/find";
import { modelsWithForgotten } from "../store/forgotten";
import { projectData } from "../store/project-data";
import { note, succeed } from "../store/queue";
import type { Job } from "../store/tables";
import type { Progress } from "../threads/train";
import type { JobContext } from "./context";
import { endWithSuccess } from "./ending";
import { phaseSpans } from "./tracing";
import { trainerOf } from "./trainer";

interface TrainingJobData {
  readonly algorithmType: string;
  readonly algorithmParameters: JsonMap;
  readonly progress?: object;
  readonly trials?: readonly number[];
}

/** Trains a model, and adds it to the database in the transaction that ends the job. */
export async function runTraining(job: Job, context: JobContext, signal: AbortSignal): Promise<void> {
  const { store, clock } = context;
  // Drops the progress that a failed attempt may have left.
  const { progress: _, trials: __, ...data } = JSON.parse(job.data) as TrainingJobData;
  const project = await projectOf(store.db, job.project_id);
  const id = newId("model");
  const training = {
    data: await projectData(store.db, project),
    algorithmType: data.algorithmType,
    parameters: data.algorithmParameters,
    modelId: id,
  };
  const seenSeq = await lastSeqIn(store.db);
  const phases = phaseSpans();
  const onProgress = progressWriter(job, data, context, phases);
  const { report, seenDeletions } = await trainerOf(context)(
    training,
    job,
    context,
    signal,
    onProgress,
  ).finally(phases.end);
  await endWithSuccess(job, context, signal, async (db) => {
    await db
      .insertInto("models")
      .values({
        id,
        number: await nextNumber(db, "models"),
        project_id: job.project_id,
        name: job.name,
        algorithm_type: data.algorithmType,
        algorithm_parameters: JSON.stringify(data.algorithmParameters),
        created_ts: clock.now(),
        seen_deletions: seenDeletions,
        seen_seq: seenSeq,
      })
      .execute();
    await succeed(
      db,
      { ...job, data: JSON.stringify(data) },
      { data: { ...report, ...onProgress.trials() }, result: { modelId: id }, now: clock.now() },
    );
  });
  await removeForgottenFrom(id, context).catch((error) =>
    context.log.error(
      { err: error, modelId: id },
      "cannot remove forgotten users from a model; trying again within an hour",
    ),
  );
}

/** Removes users from a new model if they were forgotten after the training had read their events. */
async function removeForgottenFrom(modelId: string, context: JobContext): Promise<void> {
  if ((await modelsWithForgotten(context.store.db)).includes(modelId)) await removeForgottenUsers(context);
}

const progressEveryMs = 1000;

/** Maximum number of trials in the job's data. A parameter search runs far fewer. */
const mostTrials = 500;

/** Writes the progress of a training to the database, because another process may serve the call that reads it. */
function progressWriter(
  job: Job,
  data: object,
  { store, clock, log }: JobContext,
  phases: ReturnType<typeof phaseSpans>,
) {
  let [writing, nextAt] = [false, 0];
  let known: { readonly trials?: readonly number[] } = {};
  const onProgress = ({ phase, fraction, quality, trials }: Progress): void => {
    // The model is saved after the last report of the last phase.
    phases.at(phase === "attributes" && fraction === 1 ? "save" : phase);
    if (trials) known = { trials: trials.slice(0, mostTrials) };
    if (writing || clock.now() < nextAt) return;
    [writing, nextAt] = [true, clock.now() + progressEveryMs];
    const progress = { phase, fraction, recallAt20: quality?.recall20, ndcgAt20: quality?.ndcg20 };
    // Needs no exclusive lock: each training writes every second, but only its own row.
    void store
      .concurrently((db) => note(db, job, { ...data, ...known, progress }))
      .catch((error) => {
        const about = { requestId: job.request_id ?? undefined, jobId: job.id };
        log.warn({ ...about, err: error }, "cannot write the progress of a job");
      })
      .finally(() => {
        writing = false;
      });
  };
  return Object.assign(onProgress, { trials: () => known });
}
