import type { Request, routes } from "../contract";
import type { Context } from "./context";
import { modelSource } from "./model";
import { projectOf } from "./project";
import { type JobTable, succeed } from "./queue";
import { projectData } from "./training";

type Querying = Request<(typeof routes)["submitQueryingJob"]>;
type Clustering = Request<(typeof routes)["submitClusteringJob"]>;

/** Carries out a query; its files are there before the job succeeds. */
export async function finishQuerying(job: JobTable, context: Context): Promise<void> {
  const { store, jobs, clock, folder } = context;
  const query = JSON.parse(job.data) as Querying;
  const { message } = await jobs.pool.run({
    kind: "QUERYING",
    data: await dataOf(job, context),
    model: await modelSource(context, query.modelId),
    query: { queryType: query.queryType, queries: query.queries } as Querying,
    jsonFile: folder.resultFile(job.id, "json"),
    chartFiles:
      query.queryType === "user_distribution"
        ? query.queries.map((_, at) => folder.resultFile(job.id, `${at}.svg`))
        : [],
  });
  const charts =
    "Add &format=svg to the address for the chart, and &query=1 and so on for that of another query.";
  const hint = query.queryType === "user_distribution" ? charts : null;
  const result = { message: [message, hint].filter(Boolean).join(" ") || null };
  await store.transaction((db) => succeed(db, job, { result, now: clock.now() }));
}

/** Carries out a clustering; its file is there before the job succeeds. */
export async function finishClustering(job: JobTable, context: Context): Promise<void> {
  const { store, jobs, clock, folder } = context;
  const { modelId, parameters } = JSON.parse(job.data) as Clustering;
  const result = await jobs.pool.run({
    kind: "CLUSTERING",
    data: await dataOf(job, context),
    model: await modelSource(context, modelId),
    minUserNum: parameters.minUserNum,
    jsonFile: folder.resultFile(job.id, "json"),
  });
  await store.transaction((db) => succeed(db, job, { result, now: clock.now() }));
}

async function dataOf(job: JobTable, { store }: Context) {
  return projectData(store.db, await projectOf(store.db, job.project_id));
}
