import { z } from "zod";
import { encode, type jobStatuses } from "../../contract";
import { version } from "../../package.json";
import { withoutPassword } from "../store/address";
import { countRows } from "../store/find";
import type { ServerContext } from "./context";

/** The service's report about itself. */
export const statusReply = z.object({
  version: z.string(),
  url: z.string(),
  pid: z.int(),
  dataDir: z.string(),
  /** Identifies the data. A reset changes it. */
  instanceId: z.string(),
  uptimeSec: z.number(),
  memoryBytes: z.int(),
  cpuSec: z.number(),
  /** Number of threads for jobs, busy or idle. */
  threads: z.int(),
  datasets: z.array(
    z.object({
      id: z.string(),
      kind: z.string(),
      name: z.string(),
      numShards: z.int(),
      records: z.int(),
      /** Shards that are not empty, with their record counts. */
      shards: z.array(z.object({ shard: z.int(), records: z.int() })),
    }),
  ),
  projects: z.int(),
  algorithms: z.int(),
  models: z.int(),
  jobs: z.object({ pending: z.int(), running: z.int(), succeed: z.int(), failed: z.int() }),
  deployments: z.array(
    z.object({
      projectId: z.string(),
      generatorModelId: z.string(),
      rankerModelId: z.string().nullable(),
      qps: z.int(),
      /** False while the models are loading, or if they cannot be loaded. Until then, any previous models answer. */
      loaded: z.boolean(),
    }),
  ),
});

/** Returns the status. Each upsert updates the record counts of its shards, so records need not be counted here. */
export async function status(context: ServerContext): Promise<unknown> {
  const { store, serving, pool, clock, dataDirectory, startedTs, addresses } = context;
  const db = store.db;
  const datasets = await db
    .selectFrom("datasets")
    .selectAll()
    .where("kind", "!=", "deleted")
    .orderBy("number")
    .execute();
  const shards = await db
    .selectFrom("shards")
    .selectAll()
    .where("records", ">", 0)
    .orderBy("shard")
    .execute();
  const jobs = await db
    .selectFrom("jobs")
    .select((of) => ["status", of.fn.countAll<number>().as("count")])
    .groupBy("status")
    .execute();
  const deployments = await db.selectFrom("deployments").selectAll().orderBy("project_id").execute();
  const count = (table: "projects" | "algorithms" | "models") =>
    countRows(db, db.selectFrom(table).select("id"));
  const inState = (state: (typeof jobStatuses)[number]) =>
    Number(jobs.find((row) => row.status === state)?.count ?? 0);
  return encode(statusReply, {
    version,
    url: addresses.url,
    pid: process.pid,
    dataDir: store.isShared ? withoutPassword(store.location) : dataDirectory.path,
    instanceId: store.instanceId,
    uptimeSec: (clock.now() - startedTs) / 1000,
    memoryBytes: process.memoryUsage.rss(),
    cpuSec: (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
    threads: pool.threads,
    datasets: datasets.map(({ id, kind, name, number, num_shards }) => {
      const own = shards.filter((row) => row.dataset === number);
      return {
        id,
        kind,
        name,
        numShards: num_shards,
        records: own.reduce((sum, row) => sum + row.records, 0),
        shards: own.map(({ shard, records }) => ({ shard, records })),
      };
    }),
    projects: await count("projects"),
    algorithms: await count("algorithms"),
    models: await count("models"),
    jobs: {
      pending: inState("PENDING"),
      running: inState("RUNNING"),
      succeed: inState("SUCCEED"),
      failed: inState("FAILED"),
    },
    deployments: deployments.map((row) => ({
      projectId: row.project_id,
      generatorModelId: row.generator_model_id,
      rankerModelId: row.ranker_model_id,
      qps: row.qps,
      loaded: serving.isLoaded(row.project_id, row.job_id),
    })),
  });
}
