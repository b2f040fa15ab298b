import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { notFound } from "../base/error";
import type { Context } from "../handlers/handler";
import type { Db } from "../store/database";
import type { Job } from "../store/tables";
import { jobCounts, jobRow, jobsOf, jobsWithProject, modelsById } from "./rows";

/** Maximum number of other jobs that the usual duration is based on. */
const comparedJobs = 20;

/** Returns a job with its request, its result, and the usual duration of such jobs. */
export async function jobResponse({ store: { db } }: Context, id: string) {
  const job = await jobsWithProject(db).where("jobs.id", "=", id).executeTakeFirst();
  if (!job) throw notFound("job", id, "it may have been removed a year after it ended");
  const took = await durations(db, job);
  const {
    retries = [],
    trials = [],
    origin: _,
    traceParent: __,
    ...data
  } = JSON.parse(job.data) as StoredJobData;
  const row = jobRow(job, job.project_name);
  const model = (await modelsById(db, row.modelId === null ? [] : [row.modelId])).get(row.modelId ?? "");
  return {
    ...row,
    data,
    retries,
    trials,
    modelName: model?.name ?? null,
    result: JSON.parse(job.result ?? "null") as Readonly<Record<string, unknown>> | null,
    medianMs: took[Math.floor(took.length / 2)] ?? null,
    medianOf: took.length,
  };
}

/** The data of a job in the database: its request, the reason for each retry, and the NDCG@20 of each trial. */
interface StoredJobData {
  readonly retries?: readonly { readonly ts: number; readonly reason: string }[];
  readonly trials?: readonly number[];
  readonly [field: string]: unknown;
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
    .limit(comparedJobs)
    .execute();
  return rows.map((row) => (row.finished_ts as number) - row.created_ts).sort((a, b) => a - b);
}

const pollMs = 1000;
const heartbeatMs = 15_000;
const maxStreamMs = 5 * 60_000;

/** Yields the newest jobs as JSON when they change, or every 15 s. Ends after 5 minutes or with the session. */
export async function* liveLines(
  context: Context,
  disconnected: AbortSignal,
  isSignedIn: () => Promise<boolean>,
): AsyncGenerator<string> {
  const { store, closing } = context;
  const signal = AbortSignal.any([closing, disconnected]);
  const began = Date.now();
  let [sentLine, sentAt] = ["", 0];
  while (!signal.aborted && Date.now() < began + maxStreamMs && (await isSignedIn())) {
    const line = JSON.stringify(await liveLine(store.db));
    if (line !== sentLine || Date.now() > sentAt + heartbeatMs) {
      [sentLine, sentAt] = [line, Date.now()];
      yield `${line}\n`;
    }
    // Waits in real time, even if a test gives the service a manual clock, because a browser is waiting.
    await setTimeout(pollMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns the newest jobs and job counts. `version` changes when an object is created or deleted, or a job ends. */
export async function liveLine(db: Db) {
  const { rows } = await jobsOf(db, { limit: 30 });
  const { rows: versions } = await sql<object>`select
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
    version: [JSON.stringify(versions), ...deployed.map(({ job_id }) => job_id)].join(" "),
  };
}
