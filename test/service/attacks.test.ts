import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { Client } from "pg";
import { attacks, type Force, type Target } from "./attacks";
import { newDatabase } from "./database";
import { type ServiceProcess, serve } from "./process";
import { Caller } from "./running";
import { openShop } from "./shop";

jest.setTimeout(3_600_000);

/** `npm run test:attacks` attacks at length and holds the service to its limits; `npm test` only wants it to survive. */
const isLong = process.env.ATTACK_CONNECTIONS !== undefined;
const connections = Number(process.env.ATTACK_CONNECTIONS ?? 4);
const force: Force = { connections, stayMs: isLong ? 10_000 : 200 };
const [mostP99Ms, mostMegabytes] = [500, 600];

const resultBytes = 7 * 1024 * 1024;

/** Trains and deploys a model, asks it a question, and makes the answer large. */
async function prepare(api: Caller, place: { dataDir?: string; database?: string }): Promise<Target> {
  const shop = await openShop(api);
  const { projectId } = shop;
  const ended = async ({ jobId }: { jobId: string }) => {
    for (;;) {
      const job = await api.call("getJob", { projectId, jobId });
      if (job.jobStatus === "SUCCEED") return { jobId, ...job.jobResult };
      if (job.jobStatus === "FAILED") throw new Error(JSON.stringify(job));
      await sleep(20);
    }
  };
  const { modelId } = await ended(
    await api.call("submitTrainingJob", { projectId, algorithmId: shop.algorithmId, name: "m" }),
  );
  const model = modelId as string;
  await ended(
    await api.call("submitDeploymentJob", { projectId, name: "d", generatorModelId: model, qps: 100_000 }),
  );
  const { jobId, downloadUrl } = await ended(
    await api.call("submitQueryingJob", {
      ...{ projectId, modelId: model, name: "q" },
      queryType: "user_list",
      queries: [{ conditions: [{ attribute: "genre", value: "drama", lowerBound: 0.1 }] }],
    }),
  );
  const large = Buffer.alloc(resultBytes, " ");
  if (place.dataDir !== undefined) writeFileSync(join(place.dataDir, "results", `${jobId}.1.json`), large);
  else {
    const client = new Client({ connectionString: place.database });
    await client.connect();
    const name = `results/${jobId}.1.json`;
    const { rows } = await client.query("select upload from files where name = $1", [name]);
    await client.query("delete from file_parts where upload = $1", [rows[0].upload]);
    for (let part = 0; part < 7; part++)
      await client.query("insert into file_parts (upload, name, part, data) values ($1, $2, $3, $4)", [
        ...[rows[0].upload, name, part, large.subarray(0, 1024 * 1024)],
      ]);
    await client.query("update files set bytes = $1 where name = $2", [resultBytes, name]);
    await client.end();
  }
  return { api, projectId, eventDatasetId: shop.eventDatasetId, downloadUrl: downloadUrl as string };
}

/** The largest memory of a process since the last look, in megabytes. */
function peakOf({ child }: ServiceProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

describe.each(["folder", "postgres"] as const)("a service over a %s", (kind) => {
  let service: ServiceProcess;
  let target: Target;
  let drop = async () => {};
  beforeAll(async () => {
    process.env.RECOMMENDER_API_KEY = "rk_the-key-of-the-attacks";
    const database = kind === "postgres" ? await newDatabase() : undefined;
    if (database) drop = database.drop;
    service = await (database ? serve("--store", database.url) : serve("--ephemeral"));
    const api = new Caller(service);
    const { body } = await api.raw("/status", { headers: { apikey: service.key } });
    target = await prepare(api, database ? { database: database.url } : { dataDir: body.data_dir });
  });
  afterAll(async () => {
    await target.api.close();
    await service.end();
    await drop();
  });

  test.each(Object.keys(attacks))("survives %s", async (name) => {
    const probe = new Worker(join(__dirname, "probe.js"), { workerData: { url: service.url } });
    // Linux begins anew to look for the peak.
    if (isLong) writeFileSync(`/proc/${service.child.pid}/clear_refs`, "5");
    await attacks[name]?.(target, force);
    probe.postMessage("end");
    const [times] = (await once(probe, "message")) as [number[]];
    expect([service.child.exitCode, service.child.signalCode]).toEqual([null, null]);
    expect((await target.api.raw("/healthz")).status).toBe(200);
    if (!isLong) return;
    const p99Ms = Math.round(times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] as number);
    const megabytes = peakOf(service);
    console.log(`${kind} | ${name} | ${times.length} probes | p99 ${p99Ms} ms | peak ${megabytes} MB`);
    expect(p99Ms).toBeLessThan(mostP99Ms);
    expect(megabytes).toBeLessThan(mostMegabytes);
  });
});
