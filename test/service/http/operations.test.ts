import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startService } from "../../../service";
import { newDatabase, testStore } from "../database";
import { Running } from "../running";
import { deploy, openShop, trainModel } from "../shop";

describe("what those who run a service look at", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "recommender-operations-"));
  let api: Running;
  beforeAll(async () => {
    api = await Running.start({ dataDir });
    const shop = await openShop(api);
    await deploy(api, shop.projectId, await trainModel(api, shop), { qps: 100 });
  });
  afterAll(async () => {
    await api.end();
    rmSync(dataDir, { recursive: true });
  });

  test("/healthz says that it is alive, to anyone", async () => {
    expect(await api.raw("/healthz")).toMatchObject({ status: 200, body: { status: "alive" } });
  });

  test("/metrics has calls, jobs, the queue, deployments and kept vectors, for those who have the key", async () => {
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

  if (testStore === "postgres")
    test("a worker is ready without models, which it never answers with, and counts no deployments", async () => {
      const { store = "", key = "" } = api.options;
      const worker = await startService({ store, key, role: "worker", log: "none" });
      expect(await api.raw(`${worker.url}/readyz`)).toMatchObject({
        status: 200,
        body: { status: "ready", deployments_to_load: 0 },
      });
      const headers = { apikey: worker.key };
      const { text } = await api.raw(`${worker.url}/metrics`, { headers });
      expect(text).toContain("recommender_jobs");
      expect(text).not.toMatch(/^recommender_deployments\{/m);
      await worker.close();
    });

  test("/readyz says so only once the models of every deployment are loaded", async () => {
    expect(await api.raw("/readyz")).toMatchObject({
      status: 200,
      body: { status: "ready", store: "reachable", deployments_to_load: 0 },
    });
    await api.end();
    rmSync(join(dataDir, "models"), { recursive: true });
    api = await Running.start({ dataDir });
    expect(await api.raw("/readyz")).toMatchObject({
      status: 503,
      body: { status: "not ready", deployments_to_load: 1 },
    });
  });
});

if (testStore === "postgres")
  test("a start over a database that is not there names it, without its password, and says what to do", async () => {
    const { url, drop } = await newDatabase();
    await drop();
    const store = new URL(url);
    store.password = "secret";
    const started = startService({ store: store.href, key: "rk_the-key-of-the-tests", log: "none" });
    await expect(started).rejects.toThrow(
      /^The database postgres\S+\/test_\w+ cannot be used \(.+\); start it, or correct its address\.$/,
    );
    await expect(started).rejects.not.toThrow(/secret/);
  });
