import { dayMs } from "../../base/clock";
import type { Context } from "../../handlers/handler";
import type { Db } from "../../store/database";
import { newRefusals } from "../../store/history/refusals";
import { countEventsSince } from "../../store/newest-events";
import { orphanIds } from "../../store/orphans";
import type { DeploymentTable, ProjectTable } from "../../store/tables";
import type { DeploymentSummary, JobRow, OverviewProject, OverviewResponse } from "../responses";
import { datasetSummaries, jobCounts, jobsOf, modelsById, modelsOf } from "../rows";
import { findAttention } from "./attention";

const maxProjects = 50;
const maxAlgorithms = 20;

/** Returns projects, datasets, running jobs and problems. Orphans are included only with `withOrphans`. */
export async function overview(
  context: Context,
  { withOrphans = false }: { readonly withOrphans?: boolean } = {},
): Promise<OverviewResponse> {
  const { db } = context.store;
  const orphans = await orphanIds(db);
  // SQL does not allow an empty list.
  const hidden = ["", ...(withOrphans ? [] : orphans)];
  const rows = await db
    .selectFrom("projects")
    .selectAll()
    .where("id", "not in", hidden)
    .orderBy("created_ts", "desc")
    .limit(maxProjects)
    .execute();
  const used = [
    "",
    ...rows.flatMap((row) => [row.user_dataset_id, row.item_dataset_id, row.event_dataset_id]),
  ];
  const newest = db
    .selectFrom("datasets")
    .select("number")
    .where("kind", "!=", "deleted")
    .where("id", "not in", hidden)
    .orderBy("number", "desc")
    .limit(200);
  const datasetRows = await db
    .selectFrom("datasets")
    .selectAll()
    .where("kind", "!=", "deleted")
    .where((of) =>
      of.or([
        of("number", "in", of.selectFrom(newest.as("newest")).select("newest.number")),
        of("id", "in", used),
      ]),
    )
    .orderBy("number", "desc")
    .execute();
  const datasets = await datasetSummaries(db, datasetRows);
  const { rows: unfinished } = await jobsOf(db, { isUnfinished: true, limit: 20 });
  const deployments = await deploymentsOf(
    context,
    rows.map(({ id }) => id),
  );
  const projects: OverviewProject[] = [];
  for (const row of rows) {
    const answer = await projectOverview(db, row, datasets, deployments, unfinished, hidden);
    projects.push({ ...answer, isOrphaned: orphans.has(row.id) });
  }
  const now = context.clock.now();
  const failed = (await unresolvedFailures(db, now)).filter(({ projectId }) => !orphans.has(projectId));
  const counts = await newRefusals(db, datasetRows, now);
  const refused = datasetRows.flatMap((row) => {
    const found = orphans.has(row.id) ? undefined : counts.get(row.number);
    return found ? [{ ...row, ...found }] : [];
  });
  return {
    projects,
    otherProjects: rows.length < maxProjects ? 0 : (await countProjects(db, hidden)) - rows.length,
    orphans: orphans.size,
    datasets,
    running: unfinished,
    attention: findAttention({ ...withoutOrphans({ projects, datasets }), failed, refused }),
    jobs: await jobCounts(db),
  };
}

/** Removes orphans, because they need no attention. */
function withoutOrphans({ projects, datasets }: Pick<OverviewResponse, "projects" | "datasets">) {
  return {
    projects: projects.filter(({ isOrphaned }) => !isOrphaned),
    datasets: datasets.filter(({ isOrphaned }) => !isOrphaned),
  };
}

async function projectOverview(
  db: Db,
  row: ProjectTable,
  datasets: OverviewResponse["datasets"],
  deployments: ReadonlyMap<string, DeploymentSummary>,
  running: readonly JobRow[],
  hidden: readonly string[],
): Promise<Omit<OverviewProject, "isOrphaned">> {
  const { rows: newest } = await modelsOf(db, { projectId: row.id, limit: 1 });
  const of = (kind: string, id: string) =>
    datasets.find((dataset) => dataset.id === id) ?? { id, kind, isDeleted: true as const };
  const deployment = deployments.get(row.id) ?? null;
  const algorithms = await db
    .selectFrom("algorithms")
    .selectAll()
    .where("project_id", "=", row.id)
    .where("id", "not in", hidden)
    .orderBy("name")
    .orderBy("id")
    .limit(maxAlgorithms)
    .execute();
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
      algorithmParameters: JSON.parse(algorithm.algorithm_parameters),
    })),
    otherAlgorithms:
      algorithms.length < maxAlgorithms
        ? 0
        : (await countOf(db, "algorithms", row.id, hidden)) - algorithms.length,
    models: await countOf(db, "models", row.id),
    newest: newest[0] ?? null,
    deployment,
    isTraining: running.some((job) => job.projectId === row.id && job.type === "TRAINING"),
  };
}

async function countProjects(db: Db, hidden: readonly string[]): Promise<number> {
  const { count } = await db
    .selectFrom("projects")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where("id", "not in", hidden)
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function countOf(
  db: Db,
  table: "algorithms" | "models",
  projectId: string,
  hidden: readonly string[] = [""],
): Promise<number> {
  const { count } = await db
    .selectFrom(table)
    .select((of) => of.fn.countAll<number>().as("count"))
    .where("project_id", "=", projectId)
    .where("id", "not in", hidden)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Returns the live deployments of projects, by project id. */
export async function deploymentsOf(
  { store, serving, addresses }: Context,
  projectIds: readonly string[],
): Promise<Map<string, DeploymentSummary>> {
  const { db } = store;
  if (projectIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("deployments")
    .innerJoin("projects", "projects.id", "deployments.project_id")
    .leftJoin("jobs", "jobs.id", "deployments.job_id")
    .selectAll("deployments")
    .select(["projects.name as project_name", "projects.event_dataset_id", "jobs.finished_ts as deployed_ts"])
    .where("deployments.project_id", "in", projectIds)
    .execute();
  const models = await modelsById(db, rows.flatMap(modelIds));
  const found = new Map<string, DeploymentSummary>();
  for (const row of rows) {
    found.set(row.project_id, {
      projectId: row.project_id,
      projectName: row.project_name,
      jobId: row.job_id,
      deployedTs: row.deployed_ts,
      generator: models.get(row.generator_model_id) ?? null,
      ranker: row.ranker_model_id === null ? null : (models.get(row.ranker_model_id) ?? null),
      qps: row.qps,
      isLoaded: serving.isLoaded(row.project_id, row.job_id),
      servingUri: addresses.servingUri(row.project_id),
      eventsSince: await eventsSinceTraining(db, row.generator_model_id, row.event_dataset_id),
    });
  }
  return found;
}

function modelIds({ generator_model_id, ranker_model_id }: DeploymentTable): string[] {
  return ranker_model_id === null ? [generator_model_id] : [generator_model_id, ranker_model_id];
}

async function eventsSinceTraining(db: Db, modelId: string, eventDatasetId: string) {
  const model = await db.selectFrom("models").select("seen_seq").where("id", "=", modelId).executeTakeFirst();
  const dataset = await db
    .selectFrom("datasets")
    .select("number")
    .where("id", "=", eventDatasetId)
    .where("kind", "=", "event")
    .executeTakeFirst();
  return model?.seen_seq == null || !dataset ? null : countEventsSince(db, dataset.number, model.seen_seq);
}

const weekMs = 7 * dayMs;

/** Returns the jobs that failed in the last week, unless a later job of the same type and project succeeded. */
async function unresolvedFailures(db: Db, now: number): Promise<readonly JobRow[]> {
  const { rows } = await jobsOf(db, { status: "FAILED", limit: 20 });
  const open: JobRow[] = [];
  for (const job of rows.filter(({ createdTs }) => createdTs > now - weekMs)) {
    const since = await db
      .selectFrom("jobs")
      .select("number")
      .where("project_id", "=", job.projectId)
      .where("job_type", "=", job.type as "TRAINING")
      .where("status", "=", "SUCCEED")
      .where("number", ">", job.number)
      .limit(1)
      .executeTakeFirst();
    if (!since) open.push(job);
  }
  return open;
}
