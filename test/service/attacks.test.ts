import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import { attacked, attacks, type Force, type Target } from "./attacks";
import { newDatabase } from "./database";
import { type ServiceProcess, serve } from "./process";
import { Caller } from "./running";
import { openShop, shopRecords } from "./shop";

jest.setTimeout(3_600_000);

/** `npm run test:attacks` attacks for longer and checks limits. `npm test` only checks that the service survives. */
const isLong = process.env.ATTACK_CONNECTIONS !== undefined;
const connections = Number(process.env.ATTACK_CONNECTIONS ?? 4);
const force: Force = { connections, stayMs: isLong ? 10_000 : 200 };
const [mostP99Ms, mostMegabytes] = [500, 600];

const resultBytes = 7 * 1024 * 1024;

/** Number of events per user, which deletions have to read. */
const perUser = isLong ? 2000 : 10;

/** How long to measure the service without an attack, to know the noise of the machine. */
const controlMs = 10_000;

/** Trains and deploys a model, runs a query, and makes its result large. */
async function prepare(api: Caller, place: { dataDir?: string; database?: string }): Promise<Target> {
  const shop = await openShop(api, shopRecords({ perUser }));
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
  const headers = Object.fromEntries(
    await Promise.all(Object.entries(attacked).map(async ([name, path]) => [name, await api.headers(path)])),
  ) as Target["headers"];
  const { eventDatasetId } = shop;
  return { url: api.service.url, headers, projectId, eventDatasetId, downloadUrl: downloadUrl as string };
}

/** Returns the peak memory of a process since the last call, in megabytes. */
function peakOf({ child }: ServiceProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

/** Starts a process and sends it a task. */
function started(file: string, execArgv: string[], task: object | string): ChildProcess {
  const child = fork(join(__dirname, file), { execArgv, stdio: ["ignore", "inherit", "inherit", "ipc"] });
  child.send(task);
  return child;
}

/** Calls the health check of a service during the work. @returns the p99 of the response times, in milliseconds */
async function p99While(url: string, work: () => Promise<unknown>): Promise<number> {
  const probe = started("probe.js", [], url);
  await work();
  probe.send("end");
  const [times] = (await once(probe, "message")) as [number[]];
  return Math.round(times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] as number);
}

describe.each(["directory", "postgres"] as const)("a service over a %s", (kind) => {
  let service: ServiceProcess;
  let api: Caller;
  let target: Target;
  let drop = async () => {};
  beforeAll(async () => {
    process.env.RECOMMENDER_API_KEY = "rk_the-key-of-the-attacks";
    const database = kind === "postgres" ? await newDatabase() : undefined;
    if (database) drop = database.drop;
    service = await (database ? serve("--store", database.url) : serve("--ephemeral"));
    api = new Caller(service);
    const { body } = await api.raw("/status", { headers: { apikey: service.key } });
    target = await prepare(api, database ? { database: database.url } : { dataDir: body.data_dir });
    if (!isLong) return;
    const p99Ms = await p99While(service.url, () => sleep(controlMs));
    console.log(`${kind} | no attack | p99 ${p99Ms} ms | ${peakOf(service)} MB`);
  });
  afterAll(async () => {
    await api.close();
    await service.end();
    await drop();
  });

  test.each(Object.keys(attacks))("survives %s", async (name) => {
    // Resets the peak on Linux.
    if (isLong) writeFileSync(`/proc/${service.child.pid}/clear_refs`, "5");
    const tsx = ["--import", pathToFileURL(require.resolve("tsx")).href];
    const p99Ms = await p99While(service.url, () =>
      once(started("attack-process.ts", tsx, { name, target, force }), "message"),
    );
    expect([service.child.exitCode, service.child.signalCode]).toEqual([null, null]);
    expect((await api.raw("/healthz")).status).toBe(200);
    if (!isLong) return;
    const megabytes = peakOf(service);
    console.log(`${kind} | ${name} | p99 ${p99Ms} ms | peak ${megabytes} MB`);
    expect({ p99Ms, megabytes, isWithin: p99Ms < mostP99Ms && megabytes < mostMegabytes }).toMatchObject({
      isWithin: true,
    });
  });
});
