import type { ExpressionBuilder } from "kysely";
import { limits } from "../../contract";
import { type Db, isPostgres, unindexed } from "../store/database";
import { hasEventsBySeq } from "../store/indexes";
import { orphanIds } from "../store/orphans";
import type { Dataset, Job, Model, Tables } from "../store/tables";
import { trainingsOf } from "../store/trainings";
import type {
  Counted,
  DatasetShort,
  JobRow,
  ModelRow,
  Origin,
  Page,
  ProjectChoice,
  QualityAnswer,
} from "./answers";

const rowsPerPage = 50;
/** Jobs that one page looks through for those of a type or name, which no index finds; the next page goes on from there. */
const mostLookedThrough = 20_000;
/** Jobs of each state that are counted; more would take longer than a page may wait. */
const mostJobsCounted = 10_000;

type Json = Readonly<Record<string, unknown>>;

/** Which jobs are listed. */
export interface JobFilter {
  readonly projectId?: string | undefined;
  /** One type or several, with commas between. */
  readonly type?: string | undefined;
  readonly status?: string | undefined;
  readonly isUnfinished?: boolean;
  readonly search?: string | undefined;
  /** The number of the last job of the page before. */
  readonly before?: number | undefined;
  readonly limit?: number;
}

/** Jobs, each with the name of its project. */
export function namedJobs(db: Db) {
  return db
    .selectFrom("jobs")
    .leftJoin("projects", "projects.id", "jobs.project_id")
    .selectAll("jobs")
    .select("projects.name as project_name");
}

/** Jobs, newest first. A page may be short, or empty, though more are to come: so many were looked through. */
export async function jobsOf(db: Db, filter: JobFilter): Promise<Page<JobRow>> {
  const limit = filter.limit ?? rowsPerPage;
  const looked = indexedJobs(db, filter);
  let query = db
    .selectFrom(looked.as("jobs"))
    .leftJoin("projects", "projects.id", "jobs.project_id")
    .selectAll("jobs")
    .select("projects.name as project_name")
    .orderBy("jobs.number", "desc")
    .limit(limit + 1);
  if (filter.type) query = query.where("job_type", "in", filter.type.split(",") as Job["job_type"][]);
  if (filter.status) query = query.where("status", "=", filter.status as Job["status"]);
  if (filter.search) {
    const like = `%${escaped(filter.search)}%`;
    query = query.where((of) =>
      of.or([of("jobs.id", "=", filter.search as string), of("jobs.name", "like", like)]),
    );
  }
  const rows = await query.execute();
  const page = rows.slice(0, limit);
  const shown = page.map((row) => jobRow(row, row.project_name));
  if (rows.length > limit) return { rows: shown, next: String(page.at(-1)?.number) };
  if (!filter.type && !filter.search && !(filter.projectId && filter.status))
    return { rows: shown, next: null };
  const { last, count } = await db
    .selectFrom(looked.as("looked"))
    .select((of) => [of.fn.min("number").as("last"), of.fn.countAll<number>().as("count")])
    .executeTakeFirstOrThrow();
  return { rows: shown, next: Number(count) < mostLookedThrough ? null : String(last) };
}

/** The newest jobs of a project or a state, as far as an index finds them. */
function indexedJobs(db: Db, { isUnfinished, projectId, status, before }: JobFilter) {
  return db
    .selectFrom("jobs")
    .selectAll()
    .$if(isUnfinished === true, (jobs) => jobs.where("finished_ts", "is", null))
    .$if(Boolean(projectId), (jobs) => jobs.where("project_id", "=", projectId as string))
    .$if(Boolean(status) && !projectId, (jobs) => jobs.where("status", "=", status as Job["status"]))
    .$if(before !== undefined, (jobs) => jobs.where("number", "<", before as number))
    .orderBy("number", "desc")
    .limit(mostLookedThrough);
}

/** A job as lists show it. */
export function jobRow(job: Job, projectName: string | null): JobRow {
  const data = JSON.parse(job.data) as Json;
  const result = job.result === null ? null : (JSON.parse(job.result) as Json);
  return {
    id: job.id,
    number: job.number,
    projectId: job.project_id,
    projectName: projectName ?? "",
    type: job.job_type,
    name: job.name,
    status: job.status,
    createdTs: job.created_ts,
    finishedTs: job.finished_ts,
    retryCount: job.retry_count,
    progress: job.finished_ts === null ? ((data.progress as JobRow["progress"]) ?? null) : null,
    message: typeof result?.message === "string" ? result.message : null,
    modelId: (result?.modelId ?? data.modelId ?? data.generatorModelId ?? null) as string | null,
    quality: (data.quality as QualityAnswer | undefined) ?? null,
    origin: (data.origin as Origin | undefined) ?? null,
  };
}

/** How many jobs there are in each state, up to 10,000 of each. */
export async function jobCounts(db: Db) {
  const of = async (status: Job["status"]) => {
    const some = db
      .selectFrom("jobs")
      .select("number")
      .where("status", "=", status)
      .orderBy("number", "desc")
      .limit(mostJobsCounted);
    const { count } = await db
      .selectFrom(some.as("some"))
      .select((all) => all.fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    return Number(count);
  };
  return {
    pending: await of("PENDING"),
    running: await of("RUNNING"),
    succeed: await of("SUCCEED"),
    failed: await of("FAILED"),
  };
}

/** Models of a project, newest first, with what their trainings measured. */
export async function modelsOf(
  db: Db,
  filter: { projectId: string; search?: string | undefined; before?: number | undefined; limit?: number },
): Promise<Page<ModelRow>> {
  const limit = filter.limit ?? rowsPerPage;
  let query = db
    .selectFrom("models")
    .selectAll()
    .where("project_id", "=", filter.projectId)
    .orderBy("number", "desc")
    .limit(limit + 1);
  if (filter.before !== undefined) query = query.where("number", "<", filter.before);
  if (filter.search) {
    const like = `%${escaped(filter.search)}%`;
    query = query.where((of) => of.or([of("id", "=", filter.search as string), of("name", "like", like)]));
  }
  const rows = await query.execute();
  const page = rows.slice(0, limit);
  const next = rows.length > limit ? String(page.at(-1)?.number) : null;
  return { rows: await modelRows(db, page), next };
}

/** Models with what their trainings measured. */
export async function modelRows(db: Db, models: readonly Model[]): Promise<ModelRow[]> {
  if (models.length === 0) return [];
  const projects = [...new Set(models.map(({ project_id }) => project_id))];
  const byModel = await trainingsOf(db, models);
  const serving = await db
    .selectFrom("deployments")
    .select(["generator_model_id", "ranker_model_id"])
    .where("project_id", "in", projects)
    .execute();
  const inUse = new Set(serving.flatMap((row) => [row.generator_model_id, row.ranker_model_id]));
  return models.map((model) => {
    const job = byModel.get(model.id);
    const data = job ? (JSON.parse(job.data) as Json) : {};
    return {
      id: model.id,
      name: model.name,
      projectId: model.project_id,
      algorithmType: model.algorithm_type,
      algorithmParameters: JSON.parse(model.algorithm_parameters),
      chosenParameters: (data.chosenParameters as Json | undefined) ?? null,
      createdTs: model.created_ts,
      seenSeq: model.seen_seq,
      quality: (data.quality as QualityAnswer | undefined) ?? null,
      origin: (data.origin as Origin | undefined) ?? null,
      jobId: job?.id ?? null,
      trainingMs: job?.finished_ts == null ? null : job.finished_ts - job.created_ts,
      isServing: inUse.has(model.id),
    };
  });
}

/** Some models by their ids. */
export async function modelsById(db: Db, ids: readonly string[]): Promise<Map<string, ModelRow>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("models").selectAll().where("id", "in", ids).execute();
  return new Map((await modelRows(db, rows)).map((row) => [row.id, row]));
}

/** Projects, as people choose among them. */
export async function projectChoices(
  db: Db,
  { over, limit }: { over?: string; limit: number },
): Promise<ProjectChoice[]> {
  let query = db
    .selectFrom("projects")
    .leftJoin("deployments", "deployments.project_id", "projects.id")
    .select(["projects.id", "projects.name", "deployments.job_id"])
    .orderBy("created_ts", "desc")
    .limit(limit);
  query =
    over === undefined
      ? query.where("projects.id", "not in", ["", ...(await orphanIds(db))])
      : query.where((of) => isOver(of, over));
  const rows = await query.execute();
  return rows.map((row) => ({ id: row.id, name: row.name, isDeployed: row.job_id !== null }));
}

/** Whether a project is over a dataset. */
export function isOver(of: ExpressionBuilder<Tables, "projects">, datasetId: string) {
  return of.or([
    of("user_dataset_id", "=", datasetId),
    of("item_dataset_id", "=", datasetId),
    of("event_dataset_id", "=", datasetId),
  ]);
}

/** Datasets with how full they are. */
export async function datasetsShort(db: Db, datasets: readonly Dataset[]): Promise<DatasetShort[]> {
  const orphans = await orphanIds(db);
  const shards = await db
    .selectFrom("shards")
    .select((of) => ["dataset", of.fn.sum<number>("records").as("records")])
    .groupBy("dataset")
    .execute();
  const records = new Map(shards.map((row) => [row.dataset, Number(row.records)]));
  return datasets.map(({ id, kind, name, number, num_shards }) => ({
    id,
    kind,
    name,
    records: records.get(number) ?? 0,
    capacity: num_shards * limits.recordsPerShard,
    numShards: num_shards,
    isOrphaned: orphans.has(id),
  }));
}

const mostCounted = 200_000;

/** How many events of a dataset came after one; null while the index that counts them is being made. */
export async function eventsSince(db: Db, dataset: number, seq: number): Promise<Counted | null> {
  const isShared = isPostgres(db);
  if (isShared && !(await hasEventsBySeq(db))) return null;
  const newer = db
    .selectFrom("events")
    .select("seq")
    .where("seq", ">", seq)
    .where(isShared ? "dataset" : unindexed("dataset"), "=", dataset)
    .$if(isShared, (events) => events.orderBy("seq"))
    .limit(mostCounted + 1);
  const { count } = await db
    .selectFrom(newer.as("newer"))
    .select((of) => of.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return { count: Math.min(Number(count), mostCounted), isMore: Number(count) > mostCounted };
}

/** A text as `like` takes it for itself; both dialects of SQL take the backslash only where it is declared, so signs become single wildcards. */
function escaped(text: string): string {
  return text.replace(/[%_\\]/g, "_").slice(0, 200);
}
