import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startService } from "../../../service";
import { newDatabase, testOfOneApi, testOnPostgres, testStore } from "../database";
import { eventually } from "../jobs/watched";
import { Running } from "../running";
import { deploy, openShop, trainModel } from "../shop";

describe("endpoints for operators", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "recommender-operations-"));
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  beforeAll(async () => {
    api = await Running.start({ dataDir, faults: true, retryDelayMs: 600_000 });
    shop = await openShop(api);
    await deploy(api, shop.projectId, await trainModel(api, shop), { qps: 100 });
  });
  afterAll(async () => {
    await api.end();
    rmSync(dataDir, { recursive: true });
  });

  test("/healthz is public and reports that the service is alive", async () => {
    expect(await api.raw("/healthz")).toMatchObject({ status: 200, body: { status: "alive" } });
  });

  const metrics = async () => (await api.raw("/metrics", { headers: { apikey: api.service.key } })).text;

  testOfOneApi("/metrics has calls, jobs, deployments and vectors, for those with the key", async () => {
    expect((await api.raw("/metrics")).status).toBe(401);
    for (let times = 0; times < 2; times++) await api.call("recommendItemsToUser", { userId: "u1" });
    await expect(api.call("getEventDataset", { eventDatasetId: "event-dataset-0" })).rejects.toMatchObject({
      status: 404,
    });
    const { status, text } = await api.raw("/metrics", {
      headers: { authorization: `Bearer ${api.service.key}` },
    });
    expect(status).toBe(200);
    for (const line of [
      'recommender_call_duration_seconds_count{operation="recommendItemsToUser",status="200"} 2',
      'recommender_call_duration_seconds_count{operation="getEventDataset",status="404"} 1',
      'recommender_call_duration_seconds_count{operation="other",status="401"} 1',
      'recommender_job_duration_seconds_count{type="TRAINING",outcome="succeeded"} 1',
      'recommender_deployments{loaded="true"} 1',
      'recommender_user_vectors_total{kept="true"} 1',
      'recommender_user_vectors_total{kept="false"} 1',
    ])
      expect(text.split("\n")).toContain(line);
    const [, seconds] =
      /_seconds_sum\{operation="recommendItemsToUser",status="200"\} (\S+)/.exec(text) ?? [];
    expect(Number(seconds)).toBeGreaterThan(0);
    expect(text).toMatch(/^process_resident_memory_bytes \d/m);
    expect(text).not.toContain(api.service.key);
  });

  test("/metrics counts the jobs of the queue by kind and status, in every process", async () => {
    const { projectId, algorithmId } = shop;
    await api.raw("/faults", {
      method: "PUT",
      headers: { apikey: api.service.key, "content-type": "application/json" },
      body: JSON.stringify({ jobs: [{ name: "waits", times: 2 }] }),
    });
    expect(await metrics()).not.toMatch(/^recommender_jobs\{/m);
    const jobs: string[] = [];
    for (const name of ["waits", "waits"])
      jobs.push((await api.call("submitTrainingJob", { projectId, algorithmId, name })).jobId);
    // Each job fails once and waits for its retry.
    for (const jobId of jobs)
      await eventually(async () => (await api.call("getJob", { projectId, jobId })).retryCount === 1);
    for (const text of [await metrics(), await metrics()]) {
      expect(text.split("\n")).toContain('recommender_jobs{type="TRAINING",status="PENDING"} 2');
      expect(text).not.toContain('status="RUNNING"');
    }
  });

  testOnPostgres(
    "a worker is ready without models, because it serves no recommendations, and counts no deployments",
    async () => {
      const { store = "", key = "" } = api.options;
      const worker = await startService({ store, key, role: "worker", log: "none" });
      expect(await api.raw(`${worker.url}/readyz`)).toMatchObject({
        status: 200,
        body: { status: "ready", deployments_to_load: 0 },
      });
      const headers = { apikey: worker.key };
      const { text } = await api.raw(`${worker.url}/metrics`, { headers });
      expect(text).toMatch(/^recommender_jobs\{.*\} 2$/m);
      expect(text).not.toMatch(/^recommender_deployments\{/m);
      await worker.close();
    },
  );

  testOnPostgres(
    "an API process that cannot load a deployment stays ready with the previous one, and reports the pending one",
    async () => {
      const { store = "", key = "" } = api.options;
      const lines: string[] = [];
      const log = { write: (line: string) => void lines.push(line) };
      const watched = await startService({ store, key, role: "api", log });
      const headers = { apikey: key };
      const readyz = () => api.raw(`${watched.url}/readyz`);
      const deployments = async () =>
        (await api.raw(`${watched.url}/metrics`, { headers })).text.match(/^recommender_deployments\{.*$/gm);
      await eventually(async () => (await readyz()).status === 200);
      const [row] = (await api.ask("select * from deployments")) as Record<string, string>[];
      await api.ask("update deployments set job_id = 'job-0', generator_model_id = 'model-0'");
      await eventually(async () => lines.some((line) => line.includes("the previous one still answers")));
      expect(await readyz()).toMatchObject({
        status: 200,
        body: { status: "ready", deployments_to_load: 1 },
      });
      expect(await deployments()).toEqual([
        'recommender_deployments{loaded="true"} 0',
        'recommender_deployments{loaded="false"} 1',
      ]);
      const asked = api.call("recommendItemsToUser", { userId: "u1" }, { base: watched.url });
      expect((await asked).results).toHaveLength(10);
      await api.ask(
        `update deployments set job_id = '${row?.job_id}', generator_model_id = '${row?.generator_model_id}'`,
      );
      await eventually(async () => (await readyz()).body.deployments_to_load === 0);
      await watched.close();
    },
  );

  testOnPostgres(
    "an API process is ready only after it has loaded the models of all deployments",
    async () => {
      const { store = "", key = "" } = api.options;
      await api.ask("alter table file_parts rename data to away");
      const starting = await startService({ store, key, role: "api", log: "none" });
      const readyz = () => api.raw(`${starting.url}/readyz`);
      expect(await readyz()).toMatchObject({
        status: 503,
        body: { status: "not ready", store: "reachable", deployments_to_load: 1 },
      });
      await api.ask("alter table file_parts rename away to data");
      await eventually(async () => (await readyz()).status === 200);
      await starting.close();
    },
  );

  test("a missing model affects only the calls of its project", async () => {
    expect(await api.raw("/readyz")).toMatchObject({
      status: 200,
      body: { status: "ready", store: "reachable", deployments_to_load: 0 },
    });
    await api.end();
    if (testStore === "postgres") await api.ask("delete from files");
    for (const name of ["models", "copies"]) rmSync(join(dataDir, name), { recursive: true, force: true });
    api = await Running.start({ dataDir });
    const isReady = async () => (await api.raw("/readyz")).status === 200;
    // Both API processes, if there are two.
    await eventually(async () => (await isReady()) && (await isReady()));
    expect((await api.raw("/readyz")).body).toMatchObject({ status: "ready", deployments_to_load: 1 });
    await expect(api.call("recommendItemsToUser", { userId: "u1" })).rejects.toMatchObject({ status: 503 });
  });
});

testOnPostgres(
  "a start with a missing database names it without its password, and names the fix",
  async () => {
    const { url, drop } = await newDatabase();
    await drop();
    const store = new URL(url);
    store.password = "secret";
    const started = startService({ store: store.href, key: "rk_the-key-of-the-tests", log: "none" });
    await expect(started).rejects.toThrow(
      /^Cannot use the database postgres\S+\/test_\w+ \(.+\)\. Check that it is running, and .* correct\.$/,
    );
    await expect(started).rejects.not.toThrow(/secret/);
  },
);
