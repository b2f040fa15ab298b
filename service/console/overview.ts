import { limits } from "../../contract";
import { dayMs } from "../base/clock";
import type { Context } from "../handlers/handler";
import type { Db } from "../store/database";
import { newRefusals } from "../store/history/refusals";
import type { DeploymentTable, ProjectTable } from "../store/tables";
import type {
  Attention,
  DatasetShort,
  DeploymentAnswer,
  JobRow,
  OverviewAnswer,
  OverviewProject,
} from "./answers";
import { datasetsShort, eventsSince, jobCounts, jobsOf, modelsById, modelsOf } from "./rows";

const [mostProjects, mostAlgorithms] = [50, 20];

/** Everything at a glance: what there is, what runs, and what wants a decision. */
export async function overview(context: Context): Promise<OverviewAnswer> {
  const { db } = context.store;
  const rows = await db
    .selectFrom("projects")
    .selectAll()
    .orderBy("created_ts", "desc")
    .limit(mostProjects)
    .execute();
  // No database takes an empty list.
  const used = [
    "",
    ...rows.flatMap((row) => [row.user_dataset_id, row.item_dataset_id, row.event_dataset_id]),
  ];
  const newest = db
    .selectFrom("datasets")
    .select("number")
    .where("kind", "!=", "deleted")
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
  const datasets = await datasetsShort(db, datasetRows);
  const { rows: underWay } = await jobsOf(db, { isUnfinished: true, limit: 20 });
  const deployments = await deploymentsOf(
    context,
    rows.map(({ id }) => id),
  );
  const projects: OverviewProject[] = [];
  for (const row of rows) projects.push(await projectAnswer(db, row, datasets, deployments, underWay));
  const now = context.clock.now();
  const failed = await failures(db, now);
  const counts = await newRefusals(db, now);
  const refused = datasetRows.flatMap((row) => {
    const found = counts.get(row.number);
    return found ? [{ ...row, ...found }] : [];
  });
  return {
    projects,
    datasets,
    running: underWay,
    attention: attentionTo({ projects, datasets, failed, refused }),
    jobs: await jobCounts(db),
  };
}

async function projectAnswer(
  db: Db,
  row: ProjectTable,
  datasets: OverviewAnswer["datasets"],
  deployments: ReadonlyMap<string, DeploymentAnswer>,
  running: readonly JobRow[],
): Promise<OverviewProject> {
  const { rows: newest } = await modelsOf(db, { projectId: row.id, limit: 1 });
  const { count } = await db
    .selectFrom("models")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where("project_id", "=", row.id)
    .executeTakeFirstOrThrow();
  const of = (kind: string, id: string) =>
    datasets.find((dataset) => dataset.id === id) ?? { id, kind, isDeleted: true as const };
  const deployment = deployments.get(row.id) ?? null;
  const algorithms = await db
    .selectFrom("algorithms")
    .selectAll()
    .where("project_id", "=", row.id)
    .orderBy("name")
    .orderBy("id")
    .limit(mostAlgorithms)
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
    models: Number(count),
    newest: newest[0] ?? null,
    deployment,
    isTraining: running.some((job) => job.projectId === row.id && job.type === "TRAINING"),
  };
}

/** What serves some projects. */
export async function deploymentsOf(
  { store, serving, addresses }: Context,
  projectIds: readonly string[],
): Promise<Map<string, DeploymentAnswer>> {
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
  const found = new Map<string, DeploymentAnswer>();
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
      eventsSince: await since(db, row.generator_model_id, row.event_dataset_id),
    });
  }
  return found;
}

function modelIds({ generator_model_id, ranker_model_id }: DeploymentTable): string[] {
  return ranker_model_id === null ? [generator_model_id] : [generator_model_id, ranker_model_id];
}

async function since(db: Db, modelId: string, eventDatasetId: string) {
  const model = await db.selectFrom("models").select("seen_seq").where("id", "=", modelId).executeTakeFirst();
  const dataset = await db
    .selectFrom("datasets")
    .select("number")
    .where("id", "=", eventDatasetId)
    .where("kind", "=", "event")
    .executeTakeFirst();
  return model?.seen_seq == null || !dataset ? null : eventsSince(db, dataset.number, model.seen_seq);
}

const weekMs = 7 * dayMs;

/** The failures of a week after which no job of the same kind and project has succeeded. */
async function failures(db: Db, now: number): Promise<readonly JobRow[]> {
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

const grouped = (count: number) => count.toLocaleString("en");

/** What wants a decision; the worst first. */
function attentionTo({
  projects,
  datasets,
  failed,
  refused,
}: Pick<OverviewAnswer, "projects" | "datasets"> & {
  readonly failed: readonly JobRow[];
  readonly refused: readonly (Pick<DatasetShort, "id" | "kind" | "name" | "records"> & { reason: string })[];
}): Attention[] {
  const found: Attention[] = failed.slice(0, 5).map((job) => ({
    level: "bad",
    title: `${titled(job.type)} ${job.name} failed`,
    text: job.message ?? "Its message is not known.",
    href: `#/jobs/${job.id}`,
  }));
  for (const { id, kind, name, records, capacity } of datasets) {
    if (records < capacity * 0.9) continue;
    found.push({
      level: records >= capacity ? "bad" : "warn",
      title: `The ${kind} dataset ${name} is ${Math.floor((100 * records) / capacity)} % full`,
      text: `It holds ${grouped(records)} of ${grouped(capacity)} records, ${grouped(limits.recordsPerShard)} a shard; records beyond are refused. A dataset with more shards has to be created.`,
      href: `#/datasets/${id}`,
    });
  }
  for (const { id, kind, name, records, reason } of refused)
    found.push({
      level: "warn",
      title: `Records of the ${kind} dataset ${name} were refused ${records === 1 ? "once" : `${grouped(records)} times`} since yesterday`,
      text: `For example: ${reason}${/[.?!]$/.test(reason) ? "" : "."}`,
      href: `#/datasets/${id}`,
    });
  for (const project of projects) found.push(...ofProject(project));
  const order = ["bad", "warn", "hint"];
  return found.sort((a, b) => order.indexOf(a.level) - order.indexOf(b.level));
}

function ofProject(project: OverviewProject): Attention[] {
  const { name, newest, deployment, isTraining } = project;
  const gone = project.datasets.find((dataset) => "isDeleted" in dataset);
  if (gone)
    return [
      {
        level: "warn",
        title: `The ${gone.kind} dataset of ${name} was deleted`,
        text: "Its models serve on with what they learned; nothing can be trained. Create a project over another dataset.",
      },
    ];
  if (!newest)
    return isTraining
      ? []
      : [
          {
            level: "hint",
            title: `${name} has no model yet`,
            text: "Declare an Algorithm and a Model in the program and run `pulumi up`.",
          },
        ];
  if (!deployment)
    return [
      {
        level: "hint",
        title: `${name} does not serve`,
        text: `The model ${newest.name} is trained; a Deployment lets it answer.`,
        href: "#/serving",
      },
    ];
  const found: Attention[] = [];
  if (!deployment.isLoaded)
    found.push({
      level: "warn",
      title: `The models of ${name} are not in memory`,
      text: "They are being loaded, or cannot be; the log of the service says why.",
      href: "#/serving",
    });
  const { generator, eventsSince: since } = deployment;
  const { ndcgAt20, popularityNdcgAt20 } = generator?.quality ?? {};
  if (ndcgAt20 != null && popularityNdcgAt20 != null && ndcgAt20 < popularityNdcgAt20)
    found.push({
      level: "warn",
      title: `${name} serves a model that is worse than popularity`,
      text: `${generator?.name} reached ${ndcgAt20.toFixed(3)} NDCG@20, the most popular items alone ${popularityNdcgAt20.toFixed(3)}.`,
      href: `#/models/${generator?.id}`,
    });
  const events = project.datasets[2];
  if (since && events && "records" in events && since.count > 0.1 * events.records && since.count >= 100)
    found.push({
      level: "warn",
      title: `${grouped(since.count)}${since.isMore ? " or more" : ""} events since the serving model of ${name} was trained`,
      text: "New events count in answers at once; a new training lets the model itself learn from them.",
      href: "#/models",
    });
  if (generator && newest.id !== generator.id && newest.createdTs > generator.createdTs)
    found.push({
      level: "hint",
      title: `A newer model of ${name} does not serve`,
      text: `${newest.name} was trained after ${generator.name}, which serves; compare them before you deploy it.`,
      href: `#/models/${newest.id}/${generator.id}`,
    });
  return found;
}

function titled(type: string): string {
  return type.charAt(0) + type.slice(1).toLowerCase();
}
