import { g1Parameters, type JsonMap } from "../../contract";
import type { G1Parameters, TrainedModel } from "../algorithms";
import { newId } from "../base/id";
import { JobError } from "../base/job-error";
import { findDataset } from "../handlers/dataset";
import { projectOf } from "../handlers/project";
import type { Context } from "../http/context";
import type { Db } from "../store/database";
import { succeed } from "../store/queue";
import type { DatasetTable, JobTable, ProjectTable } from "../store/tables";

/** The parameters in the form that the mathematics takes. */
export function parametersOf(given: JsonMap): G1Parameters {
  const { regularization_exponent: regularizationExponent, ...others } = g1Parameters.parse(given);
  const entries = Object.entries({ ...others, regularizationExponent }).filter(
    ([, value]) => value !== undefined,
  );
  return Object.fromEntries(entries) as G1Parameters;
}

/** What a training tells beside the model, under the names that algorithm_parameters has. */
export function reportOf({ parameters, report }: TrainedModel) {
  const { regularizationExponent, ...others } = parameters;
  return {
    chosenParameters: { ...others, regularization_exponent: regularizationExponent },
    quality: {
      recallAt20: report.quality?.recall20 ?? null,
      ndcgAt20: report.quality?.ndcg20 ?? null,
      popularityRecallAt20: report.popularity?.recall20 ?? null,
      popularityNdcgAt20: report.popularity?.ndcg20 ?? null,
      heldOutPairs: report.heldOut.pairs,
      heldOutUsers: report.heldOut.users,
    },
  };
}

/** What a thread needs to know of a project's data. */
export interface ProjectData {
  readonly users: Pick<DatasetTable, "number" | "attribute_schema">;
  readonly items: Pick<DatasetTable, "number" | "attribute_schema">;
  readonly events: Pick<DatasetTable, "id" | "number">;
  readonly targetEventType: string;
}

/** The number of an event dataset that is no more. */
const deletedDataset = -1;

/** The datasets of a project; an event dataset that was deleted has no events. */
export async function projectData(db: Db, project: ProjectTable): Promise<ProjectData> {
  const users = await findDataset(db, "user", project.user_dataset_id);
  const items = await findDataset(db, "item", project.item_dataset_id);
  const events = await findDataset(db, "event", project.event_dataset_id);
  if (!users || !items) throw new JobError(`The datasets of project ${project.id} are gone.`);
  return {
    users,
    items,
    events: events ?? { id: project.event_dataset_id, number: deletedDataset },
    targetEventType: project.target_event_type,
  };
}

/** Trains the model of a job and enters it together with the job's success. */
export async function finishTraining(job: JobTable, context: Context): Promise<void> {
  const { store, jobs, clock, folder } = context;
  const data = JSON.parse(job.data) as { algorithmType: string; algorithmParameters: JsonMap };
  const project = await projectOf(store.db, job.project_id);
  const id = newId("model");
  const { report, seenDeletions } = await jobs.pool.run({
    kind: "TRAINING",
    data: await projectData(store.db, project),
    parameters: data.algorithmParameters,
    file: folder.modelFile(id),
  });
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
