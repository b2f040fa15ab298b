import { setTimeout as sleep } from "node:timers/promises";
import { type Service, type StartOptions, startService } from "../../service";
import { askDatabase, newDatabase } from "./database";
import { eventually } from "./jobs/watched";
import { ManualClock } from "./manual-clock";
import { serve } from "./process";
import { Caller } from "./running";
import { openShop } from "./shop";

const key = "rk_the-key-of-the-leases";
const leaseMs = 1000;
const nowInDatabase = "(extract(epoch from clock_timestamp()) * 1000)::bigint";

let database: Awaited<ReturnType<typeof newDatabase>>;
let caller: Caller;
let shop: Awaited<ReturnType<typeof openShop>>;
let worker: Service;
// This clock is an hour fast.
const clock = new ManualClock(Date.now() + 3_600_000);
const undo: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  database = await newDatabase();
  undo.push(() => database.drop());
  const api = await start({ role: "api" });
  caller = new Caller(api);
  undo.push(() => caller.close());
  shop = await openShop(caller);
});
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

async function start(options: StartOptions): Promise<Service> {
  const service = await startService({ log: "none", store: database.url, key, leaseMs, ...options });
  undo.push(() => service.close());
  return service;
}

const ask = <T>(statement: string) => askDatabase<T>(database.url, statement);
const statusOf = async (service: Service) =>
  (await caller.raw(`${service.url}/status`, { headers: { apikey: key } })).body;

async function submit(name: string, algorithmId = shop.algorithmId): Promise<string> {
  const { jobId } = await caller.call("submitTrainingJob", { projectId: shop.projectId, algorithmId, name });
  return jobId;
}

async function row(jobId: string) {
  const [job] = await ask<{
    status: string;
    attempt: number;
    retry_count: number;
    lost: boolean;
    left: number;
  }>(
    `select status, attempt, retry_count, lease_ts < ${nowInDatabase} as lost,
      (due_ts - ${nowInDatabase})::float8 as left from jobs where id = '${jobId}'`,
  );
  return job;
}

test("a worker that hangs loses its job to another, and its result is rejected when it resumes", async () => {
  process.env.RECOMMENDER_API_KEY = key;
  const own = [
    "--store",
    database.url,
    "--role",
    "worker",
    "--lease-ms",
    String(leaseMs),
    "--job-delay",
    "500",
  ];
  const asleep = await serve(...own);
  undo.push(() => asleep.end("SIGKILL"));
  const jobId = await submit("lost");
  await eventually(async () => (await row(jobId))?.status === "RUNNING");
  asleep.child.kill("SIGSTOP");
  await eventually(async () => (await row(jobId))?.lost === true);
  worker = await start({ role: "worker", clock, faults: true, retryDelayMs: 60_000 });
  // The other worker takes over after a full lease of contact with the database.
  await eventually(async () => {
    clock.advance(leaseMs / 5);
    return (await row(jobId))?.status === "SUCCEED";
  });
  asleep.child.kill("SIGCONT");
  await eventually(async () => asleep.said().includes("job was lost"));
  expect(await row(jobId)).toMatchObject({ status: "SUCCEED", attempt: 2, retry_count: 1 });
  expect(await ask("select id from models")).toHaveLength(1);
  expect(await ask("select name from files")).toHaveLength(1);
  await asleep.end();
});

test("after an outage, a worker takes over no jobs until it has been in contact for a full lease", async () => {
  const [own, late] = [new ManualClock(), new ManualClock()];
  const patient = { role: "worker", leaseMs: 15_000, jobDelayMs: 60_000 } as const;
  // The owner of the job, which reconnects later than the worker below.
  const healthy = await startService({ log: "none", store: database.url, key, clock: own, ...patient });
  await worker.close();
  const jobId = await submit("healthy");
  await eventually(async () => {
    own.advance(5000);
    return (await row(jobId))?.status === "RUNNING";
  });
  // The state after an outage that was longer than a lease.
  await ask(`update jobs set lease_ts = 0 where id = '${jobId}'`);
  const early = await startService({ log: "none", store: database.url, key, clock: late, ...patient });
  late.advance(5000);
  await eventually(async () => {
    own.advance(3000);
    return (await row(jobId))?.lost === false;
  });
  late.advance(5000);
  await eventually(async () => {
    own.advance(60_000);
    return (await row(jobId))?.status === "SUCCEED";
  });
  expect(await row(jobId)).toMatchObject({ attempt: 1, retry_count: 0 });
  await Promise.all([healthy.close(), early.close()]);
  worker = await start({ role: "worker", clock, faults: true, retryDelayMs: 60_000 });
});

test("a worker that has lost a job ends its thread", async () => {
  const { algorithmId } = await caller.call("createAlgorithm", {
    projectId: shop.projectId,
    name: "endless",
    algorithmParameters: { dimensions: 512, regularization: 0.1, alpha: 0.3, epochs: 200 },
  });
  const busy = async () => (await statusOf(worker)).threads as number;
  await eventually(async () => {
    clock.advance(60_000);
    return (await busy()) === 0;
  });
  const jobId = await submit("endless", algorithmId);
  await eventually(async () => (await busy()) === 1);
  await ask(
    `update jobs set status = 'FAILED', finished_ts = 1, result = '{"message":"no"}' where id = '${jobId}'`,
  );
  clock.advance(leaseMs / 5);
  await eventually(async () => (await busy()) === 0);
});

test("the delay of a retry is measured by the clock of the database", async () => {
  await caller.raw(`${worker.url}/faults`, {
    method: "PUT",
    headers: { apikey: key, "content-type": "application/json" },
    body: JSON.stringify({ jobs: [{ name: "flaky", times: 1 }] }),
  });
  const jobId = await submit("flaky");
  await eventually(async () => (await row(jobId))?.retry_count === 1);
  expect((await row(jobId))?.left).toBeLessThanOrEqual(60_000);
  clock.advance(60_000);
  await sleep(100);
  expect(await row(jobId)).toMatchObject({ status: "PENDING" });
});

test("loading a deployment is retried with increasing pauses", async () => {
  const [model] = await ask<{ id: string }>("select id from models");
  const { projectId } = shop;
  const wanted = { projectId, name: "live", generatorModelId: String(model?.id) };
  const { jobId } = await caller.call("submitDeploymentJob", wanted);
  await eventually(async () => (await row(jobId))?.status === "SUCCEED");
  await ask("delete from files");
  let tries = 0;
  const log = {
    write: (line: string) => {
      if (line.includes("cannot load a deployment")) tries++;
    },
  };
  const own = new ManualClock();
  await start({ role: "api", clock: own, log });
  await eventually(async () => tries === 1);
  for (let passed = 0; passed < 20; passed += 2) {
    own.advance(2000);
    await sleep(100);
  }
  // After 2, 6 and 14 seconds. A slow read of the deployment delays the later tries.
  await eventually(() => tries > 1);
  expect(tries).toBeLessThanOrEqual(4);
});
