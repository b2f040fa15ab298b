import { sql } from "kysely";
import { notFound } from "../base/error";
import type { Context } from "../handlers/handler";
import type { Db } from "../store/database";
import type { Job } from "../store/tables";
import type { JobAnswer, JobRow, LiveLine } from "./answers";
import { jobCounts, jobRow, jobsOf, modelsById, namedJobs } from "./rows";

/** How many jobs of the same kind say how long one takes. */
const compared = 20;

/** One job with its request, its result, and how long such jobs take. */
export async function jobAnswer({ store: { db } }: Context, id: string): Promise<JobAnswer> {
  const job = await namedJobs(db).where("jobs.id", "=", id).executeTakeFirst();
  if (!job) throw notFound("job", id, "it may have been removed a year after it ended");
  const took = await durations(db, job);
  const {
    retries = [],
    trials = [],
    origin: _,
    ...data
  } = JSON.parse(job.data) as JobAnswer["data"] & Partial<JobAnswer>;
  const row = jobRow(job, job.project_name);
  const model = (await modelsById(db, row.modelId === null ? [] : [row.modelId])).get(row.modelId ?? "");
  return {
    ...row,
    ...{ data, retries, trials, modelName: model?.name ?? null },
    result: job.result === null ? null : JSON.parse(job.result),
    requestId: job.request_id,
    worker: job.worker,
    usualMs: took[Math.floor(took.length / 2)] ?? null,
    usualOf: took.length,
  };
}

async function durations(db: Db, { project_id, job_type, number }: Job): Promise<number[]> {
  const rows = await db
    .selectFrom("jobs")
    .select(["created_ts", "finished_ts"])
    .where("project_id", "=", project_id)
    .where("job_type", "=", job_type)
    .where("status", "=", "SUCCEED")
    .where("finished_ts", "is not", null)
    .where("number", "!=", number)
    .orderBy("finished_ts", "desc")
    .limit(compared)
    .execute();
  return rows.map((row) => (row.finished_ts as number) - row.created_ts).sort((a, b) => a - b);
}

const [lookMs, signMs, streamMs] = [1000, 15_000, 5 * 60_000];

/**
 * How the jobs stand, said again whenever that has changed. It ends with the session, and after some minutes; then the
 * page asks anew.
 */
export async function* live(
  context: Context,
  left: AbortSignal,
  isSignedIn: () => Promise<boolean>,
): AsyncGenerator<string> {
  const { store, closing } = context;
  const signal = AbortSignal.any([closing, left]);
  const began = Date.now();
  let [said, saidAt] = ["", 0];
  while (!signal.aborted && Date.now() < began + streamMs && (await isSignedIn())) {
    const line = JSON.stringify(await liveLine(store.db));
    if (line !== said || Date.now() > saidAt + signMs) {
      [said, saidAt] = [line, Date.now()];
      yield `${line}\n`;
    }
    await pause(lookMs, signal);
  }
}

async function liveLine(db: Db): Promise<LiveLine> {
  const { rows } = await jobsOf(db, { limit: 30 });
  const { rows: there } = await sql<object>`select
    (select max(number) from models) as "lastModel",
    (select count(*) from models) as models,
    (select max(number) from datasets) as "lastDataset",
    (select count(*) from datasets where kind <> 'deleted') as datasets,
    (select count(*) from projects) as projects,
    (select count(*) from algorithms) as algorithms,
    (select max(number) from jobs where status = 'SUCCEED') as "lastSucceeded",
    (select max(number) from jobs where status = 'FAILED') as "lastFailed"`.execute(db);
  const deployed = await db.selectFrom("deployments").select("job_id").orderBy("project_id").execute();
  return {
    jobs: rows,
    counts: await jobCounts(db),
    version: [JSON.stringify(there), ...deployed.map(({ job_id }) => job_id)].join(" "),
  };
}

/** A real pause, whatever clock the service goes by: a page is looked at by people. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

/** The deployments of a project, newest first. */
export async function deploymentJobs(db: Db, projectId: string): Promise<readonly JobRow[]> {
  return (await jobsOf(db, { projectId, type: "DEPLOYMENT", limit: 20 })).rows;
}
