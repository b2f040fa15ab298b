import type { ExpressionBuilder } from "kysely";
import type { z } from "zod";
import { limits, type quality } from "../../contract";
import type { Origin } from "../../contract/origin";
import type { Db } from "../store/database";
import { countRows } from "../store/find";
import { orphanIds } from "../store/orphans";
import type { Dataset, Job, Model, Tables } from "../store/tables";
import { trainingsOf } from "../store/trainings";

const rowsPerPage = 50;
/** Maximum number of jobs that a request scans if no index supports the filter. The next page continues the scan. */
const maxScannedJobs = 20_000;
/** Maximum number of jobs to count per status. Counting more would delay the page. */
const maxCountedJobs = 10_000;

type Json = Readonly<Record<string, unknown>>;

/** A page of a list. `next` is the `page` parameter of the next request, or null at the end. */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly next: string | null;
}

/** The fields of a job's data that the page shows. */
interface JobData {
  readonly modelId?: string;
  readonly generatorModelId?: string;
  /** Progress of a running training. `ndcgAt20` is the best value so far. */
  readonly progress?: {
    readonly phase?: string;
    readonly fraction?: number;
    readonly ndcgAt20?: number | null;
  };
  readonly quality?: z.output<typeof quality>;
  readonly chosenParameters?: Json;
  readonly origin?: Origin;
}

/** Filter of a list of jobs. */
export interface JobFilter {
  readonly projectId?: string | undefined;
  /** One or more job types, separated by commas. */
  readonly type?: string | undefined;
  readonly status?: string | undefined;
  readonly isUnfinished?: boolean;
  readonly search?: string | undefined;
  /** The number of the last job on the previous page. */
  readonly before?: number | undefined;
  readonly limit?: number;
}

/** Selects jobs with the names of their projects. */
export function jobsWithProject(db: Db) {
  return db
    .selectFrom("jobs")
    .leftJoin("projects", "projects.id", "jobs.project_id")
    .selectAll("jobs")
    .select("projects.name as project_name");
}

/** Returns jobs, newest first. A page may be short or empty even if more jobs follow, because each scan is limited. */
export async function jobsOf(db: Db, filter: JobFilter): Promise<Page<JobRow>> {
  const limit = filter.limit ?? rowsPerPage;
  const scanned = indexedJobs(db, filter);
  let query = db
    .selectFrom(scanned.as("jobs"))
    .leftJoin("projects", "projects.id", "jobs.project_id")
    .selectAll("jobs")
    .select("projects.name as project_name")
    .orderBy("jobs.number", "desc")
    .limit(limit + 1);
  if (filter.type) query = query.where("job_type", "in", filter.type.split(",") as Job["job_type"][]);
  if (filter.status) query = query.where("status", "=", filter.status as Job["status"]);
  if (filter.search) {
    const like = `%${escapeLike(filter.search)}%`;
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
    .selectFrom(scanned.as("looked"))
    .select((of) => [of.fn.min("number").as("last"), of.fn.countAll<number>().as("count")])
    .executeTakeFirstOrThrow();
  return { rows: shown, next: Number(count) < maxScannedJobs ? null : String(last) };
}

/** Selects the newest jobs, using only the filters that an index supports. */
function indexedJobs(db: Db, { isUnfinished, projectId, status, before }: JobFilter) {
  return db
    .selectFrom("jobs")
    .selectAll()
    .$if(isUnfinished === true, (jobs) => jobs.where("finished_ts", "is", null))
    .$if(Boolean(projectId), (jobs) => jobs.where("project_id", "=", projectId as string))
    .$if(Boolean(status) && !projectId, (jobs) => jobs.where("status", "=", status as Job["status"]))
    .$if(before !== undefined, (jobs) => jobs.where("number", "<", before as number))
    .orderBy("number", "desc")
    .limit(maxScannedJobs);
}

/** Converts a job for the page. */
export function jobRow(job: Job, projectName: string | null) {
  const data = JSON.parse(job.data) as JobData;
  const result: { message?: unknown; modelId?: string } | null = JSON.parse(job.result ?? "null");
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
    progress: job.finished_ts === null ? (data.progress ?? null) : null,
    message: typeof result?.message === "string" ? result.message : null,
    modelId: result?.modelId ?? data.modelId ?? data.generatorModelId ?? null,
    quality: data.quality ?? null,
    // The origin is null if the call that submitted the job did not name it.
    origin: data.origin ?? null,
  };
}

/** A job as the page shows it. */
export type JobRow = ReturnType<typeof jobRow>;

/** Counts the jobs in each state, up to 10,000 of each. */
export async function jobCounts(db: Db) {
  const of = async (status: Job["status"]) => {
    const some = db
      .selectFrom("jobs")
      .select("number")
      .where("status", "=", status)
      .orderBy("number", "desc")
      .limit(maxCountedJobs);
    return countRows(db, some);
  };
  return {
    pending: await of("PENDING"),
    running: await of("RUNNING"),
    succeed: await of("SUCCEED"),
    failed: await of("FAILED"),
  };
}

/** Returns the models of a project, newest first, with their quality. */
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
    const like = `%${escapeLike(filter.search)}%`;
    query = query.where((of) => of.or([of("id", "=", filter.search as string), of("name", "like", like)]));
  }
  const rows = await query.execute();
  const page = rows.slice(0, limit);
  const next = rows.length > limit ? String(page.at(-1)?.number) : null;
  return { rows: await modelRows(db, page), next };
}

/** Converts models for the page. Adds data of their training jobs, such as the quality. */
export async function modelRows(db: Db, models: readonly Model[]) {
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
    const data = JSON.parse(job?.data ?? "{}") as JobData;
    return {
      id: model.id,
      name: model.name,
      projectId: model.project_id,
      algorithmType: model.algorithm_type,
      algorithmParameters: JSON.parse(model.algorithm_parameters) as Json,
      chosenParameters: data.chosenParameters ?? null,
      createdTs: model.created_ts,
      /** Sequence number of the last event that the training used. */
      seenSeq: model.seen_seq,
      quality: data.quality ?? null,
      origin: data.origin ?? null,
      jobId: job?.id ?? null,
      trainingMs: job?.finished_ts == null ? null : job.finished_ts - job.created_ts,
      isLive: inUse.has(model.id),
    };
  });
}

/** A model as the page shows it. */
export type ModelRow = Awaited<ReturnType<typeof modelRows>>[number];

/** Returns models by their ids. */
export async function modelsById(db: Db, ids: readonly string[]): Promise<Map<string, ModelRow>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("models").selectAll().where("id", "in", ids).execute();
  return new Map((await modelRows(db, rows)).map((row) => [row.id, row]));
}

/** Returns the newest projects to choose from: those that use a dataset, or all that are not orphaned. */
export async function projectChoices(db: Db, { datasetId, limit }: { datasetId?: string; limit: number }) {
  let query = db
    .selectFrom("projects")
    .leftJoin("deployments", "deployments.project_id", "projects.id")
    .select(["projects.id", "projects.name", "deployments.job_id"])
    .orderBy("created_ts", "desc")
    .limit(limit);
  query =
    datasetId === undefined
      ? query.where("projects.id", "not in", ["", ...(await orphanIds(db))])
      : query.where((of) => usesDataset(of, datasetId));
  const rows = await query.execute();
  return rows.map((row) => ({ id: row.id, name: row.name, isDeployed: row.job_id !== null }));
}

/** Matches projects that use a dataset. */
export function usesDataset(of: ExpressionBuilder<Tables, "projects">, datasetId: string) {
  return of.or([
    of("user_dataset_id", "=", datasetId),
    of("item_dataset_id", "=", datasetId),
    of("event_dataset_id", "=", datasetId),
  ]);
}

/** A dataset as the page shows it. */
export type DatasetSummary = Awaited<ReturnType<typeof datasetSummaries>>[number];

/** Converts datasets for the page and adds their sizes. */
export async function datasetSummaries(db: Db, datasets: readonly Dataset[]) {
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

/**
 * Prepares a text for `like`. SQLite has no default escape, so special characters become `_`, which matches any
 * character.
 */
function escapeLike(text: string): string {
  return text.replace(/[%_\\]/g, "_").slice(0, 200);
}
