import type { Rules } from "../../../contract";
import type { Context } from "../../handlers/handler";
import type { Db } from "../../store/database";
import { countRows, findDataset } from "../../store/find";
import { countEventsSince } from "../../store/newest-events";
import type { ProjectTable } from "../../store/tables";
import { type DatasetSummary, type JobRow, modelsById, modelsOf } from "../rows";

const maxAlgorithms = 20;

/** A project as the overview shows it. `isOrphaned` is true if a replacement or a deletion left it behind. */
export type OverviewProject = Awaited<ReturnType<typeof projectOverview>> & { readonly isOrphaned: boolean };

/** Returns a project with its datasets, algorithms, newest model and deployment. */
export async function projectOverview(
  db: Db,
  row: ProjectTable,
  datasets: readonly DatasetSummary[],
  deployments: Awaited<ReturnType<typeof deploymentsOf>>,
  running: readonly JobRow[],
  hidden: readonly string[],
) {
  const { rows: newest } = await modelsOf(db, { projectId: row.id, limit: 1 });
  const of = (kind: string, id: string) =>
    datasets.find((dataset) => dataset.id === id) ?? { id, kind, isDeleted: true as const };
  const deployment = deployments.get(row.id) ?? null;
  const ofProject = db
    .selectFrom("algorithms")
    .selectAll()
    .where("project_id", "=", row.id)
    .where("id", "not in", hidden);
  const algorithms = await ofProject.orderBy("name").orderBy("id").limit(maxAlgorithms).execute();
  const models = db.selectFrom("models").select("id").where("project_id", "=", row.id);
  return {
    id: row.id,
    name: row.name,
    isDeployed: deployment !== null,
    targetEventType: row.target_event_type,
    createdTs: row.created_ts,
    datasets: [
      of("user", row.user_dataset_id),
      of("item", row.item_dataset_id),
      of("event", row.event_dataset_id),
    ],
    algorithms: algorithms.map((algorithm) => ({
      id: algorithm.id,
      name: algorithm.name,
      algorithmType: algorithm.algorithm_type,
      algorithmParameters: JSON.parse(algorithm.algorithm_parameters) as Readonly<Record<string, unknown>>,
    })),
    /** Number of algorithms of the project that are not listed. */
    otherAlgorithms: (await countRows(db, ofProject)) - algorithms.length,
    models: await countRows(db, models),
    newest: newest[0] ?? null,
    deployment,
    isTraining: running.some((job) => job.projectId === row.id && job.type === "TRAINING"),
  };
}

/** Returns the live deployments of projects, by project id. */
export async function deploymentsOf({ store, serving, addresses }: Context, projectIds: readonly string[]) {
  const { db } = store;
  const rows = await db
    .selectFrom("deployments")
    .innerJoin("projects", "projects.id", "deployments.project_id")
    .leftJoin("jobs", "jobs.id", "deployments.job_id")
    .selectAll("deployments")
    .select(["projects.name as project_name", "projects.event_dataset_id", "jobs.finished_ts as deployed_ts"])
    // SQL does not allow an empty list, so an id that no project has is added.
    .where("deployments.project_id", "in", ["", ...projectIds])
    .execute();
  const models = await modelsById(
    db,
    rows.flatMap((row) => [row.generator_model_id, row.ranker_model_id ?? []].flat()),
  );
  const deployments = rows.map(async (row) => ({
    projectId: row.project_id,
    projectName: row.project_name,
    jobId: row.job_id,
    deployedTs: row.deployed_ts,
    generator: models.get(row.generator_model_id) ?? null,
    ranker: models.get(row.ranker_model_id ?? "") ?? null,
    qps: row.qps,
    rules: row.rules === null ? null : (JSON.parse(row.rules) as Rules),
    isLoaded: serving.isLoaded(row.project_id, row.job_id),
    servingUri: addresses.servingUri(row.project_id),
    /** Number of events that arrived after the live model was trained, or null if unknown. */
    eventsSince: await eventsSinceTraining(db, row.generator_model_id, row.event_dataset_id),
  }));
  return new Map((await Promise.all(deployments)).map((one) => [one.projectId, one]));
}

async function eventsSinceTraining(db: Db, modelId: string, eventDatasetId: string) {
  const model = await db.selectFrom("models").select("seen_seq").where("id", "=", modelId).executeTakeFirst();
  const dataset = await findDataset(db, "event", eventDatasetId);
  return model?.seen_seq == null || !dataset ? null : countEventsSince(db, dataset.number, model.seen_seq);
}
