import type { JsonMap } from "../../contract";
import { newId } from "../base/id";
import { projectOf } from "../store/find";
import { projectData } from "../store/project-data";
import { succeed } from "../store/queue";
import type { Job } from "../store/tables";
import type { JobContext } from "./context";
import { trainerOf } from "./trainer";

/** Trains the model of a job and enters it together with the job's success. */
export async function runTraining(job: Job, context: JobContext, signal: AbortSignal): Promise<void> {
  const { store, clock } = context;
  const data = JSON.parse(job.data) as { algorithmType: string; algorithmParameters: JsonMap };
  const project = await projectOf(store.db, job.project_id);
  const id = newId("model");
  const training = {
    data: await projectData(store.db, project),
    algorithmType: data.algorithmType,
    parameters: data.algorithmParameters,
    modelId: id,
  };
  const { report, seenDeletions } = await trainerOf(context)(training, job, context, signal);
  await store.transaction(async (db) => {
    const { last } = await db
      .selectFrom("models")
      .select((of) => of.fn.max<number | null>("number").as("last"))
      .executeTakeFirstOrThrow();
    await db
      .insertInto("models")
      .values({
        id,
        number: (last ?? 0) + 1,
        project_id: job.project_id,
        name: job.name,
        algorithm_type: data.algorithmType,
        algorithm_parameters: JSON.stringify(data.algorithmParameters),
        created_ts: clock.now(),
        seen_deletions: seenDeletions,
      })
      .execute();
    await succeed(db, job, { data: report, result: { modelId: id }, now: clock.now() });
  });
}
