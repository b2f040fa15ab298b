import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "../manual-clock";
import { Running } from "../running";
import { deploy, openShop, trainModel } from "../shop";

describe("deployments", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "deployment-"));
  const clock = new ManualClock();
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  beforeAll(async () => {
    api = await Running.start({ dataDir, clock, faults: true });
    shop = await openShop(api);
  });
  afterAll(async () => {
    await api.end();
    rmSync(dataDir, { recursive: true });
  });

  afterEach(() => switchOn({}));

  async function switchOn(faults: object): Promise<void> {
    await api.raw("/faults", {
      method: "PUT",
      headers: { apikey: api.service.key, "content-type": "application/json" },
      body: JSON.stringify(faults),
    });
  }

  const recommend = () => api.call("recommendItemsToUser", { userId: "u1", limit: 5 });

  test("every call reports that nothing is deployed at first", async () => {
    await expect(recommend()).rejects.toMatchObject({ status: 409, error: { code: "NOT_DEPLOYED" } });
    await expect(api.call("shutdownDeployment", { projectId: shop.projectId })).rejects.toMatchObject({
      status: 409,
      error: { code: "NOT_DEPLOYED" },
    });
  });

  test("a deployment is live at the base address and at its serving_uri, and its job names its models", async () => {
    const { projectId } = shop;
    const modelId = await trainModel(api, shop);
    const { jobId } = await api.call("submitDeploymentJob", {
      projectId,
      name: "live",
      generatorModelId: modelId,
      qps: 50,
    });
    const job = await api.finished(projectId, jobId);
    expect(job).toMatchObject({
      jobType: "DEPLOYMENT",
      jobStatus: "SUCCEED",
      jobData: { generatorModelId: modelId, rankerModelId: null, qps: 50 },
      jobResult: { servingUri: `${api.service.url}/serving/${projectId}` },
    });
    const plain = await recommend();
    expect(plain.results).toHaveLength(5);
    const base = job.jobResult?.servingUri as string;
    expect(await api.call("recommendItemsToUser", { userId: "u1", limit: 5 }, { base })).toEqual(plain);
  });

  test("the previous models stay live without a gap while the next ones are deployed", async () => {
    const { projectId } = shop;
    const next = await trainModel(api, shop);
    await deploy(api, projectId, next, { qps: 100_000 });
    const third = await trainModel(api, shop);
    const answers: number[] = [];
    let switched = false;
    const asking = (async () => {
      do answers.push((await recommend()).results.length);
      while (!switched);
    })();
    await deploy(api, projectId, third, { qps: 100_000 });
    switched = true;
    await asking;
    expect((await recommend()).results).toHaveLength(5);
    expect(new Set(answers)).toEqual(new Set([5]));
    await api.call("deleteModel", { projectId, modelId: next });
  });

  test("a failed deployment job keeps the previous models live", async () => {
    const { projectId } = shop;
    const generatorModelId = await trainModel(api, shop);
    await switchOn({ jobs: [{ job_type: "DEPLOYMENT", times: 4 }] });
    const { jobId } = await api.call("submitDeploymentJob", { projectId, name: "no", generatorModelId });
    expect(await api.finished(projectId, jobId)).toMatchObject({ jobStatus: "FAILED", retryCount: 3 });
    expect((await recommend()).results).toHaveLength(5);
  });

  test("deleting a model while its deployment waits fails the job immediately, with the reason", async () => {
    const { projectId } = shop;
    const generatorModelId = await trainModel(api, shop);
    await switchOn({ job_delay_ms: 1000 });
    const { jobId } = await api.call("submitDeploymentJob", { projectId, name: "late", generatorModelId });
    while ((await api.call("getJob", { projectId, jobId })).jobStatus !== "RUNNING");
    await api.call("deleteModel", { projectId, modelId: generatorModelId });
    clock.advance(1000);
    expect(await api.finished(projectId, jobId)).toMatchObject({
      jobStatus: "FAILED",
      retryCount: 0,
      jobResult: { message: expect.stringContaining("deleted") },
    });
  });

  test("a shutdown also ends waiting and running deployments, but not later ones", async () => {
    const { projectId } = shop;
    const generatorModelId = await trainModel(api, shop);
    await switchOn({ job_delay_ms: 1000 });
    const wanted = { projectId, name: "overtaken", generatorModelId };
    const jobs = [
      await api.call("submitDeploymentJob", wanted),
      await api.call("submitDeploymentJob", wanted),
    ];
    await api.call("shutdownDeployment", { projectId });
    await switchOn({});
    clock.advance(1000);
    for (const { jobId } of jobs)
      expect(await api.finished(projectId, jobId)).toMatchObject({
        jobStatus: "FAILED",
        jobResult: { message: expect.stringContaining("shut down before this deployment finished") },
      });
    await expect(recommend()).rejects.toMatchObject({ status: 409, error: { code: "NOT_DEPLOYED" } });
    await deploy(api, projectId, generatorModelId);
    expect((await recommend()).results).toHaveLength(5);
  });

  test("after a restart, the recommendations at the same port are the same", async () => {
    const before = await recommend();
    const { url } = api.service;
    await api.end();
    api = await Running.start({ dataDir, clock });
    expect(api.service.url).toBe(url);
    expect(await recommend()).toEqual(before);
  });

  test("a project is no longer live after a shutdown", async () => {
    const { projectId } = shop;
    expect(await api.call("shutdownDeployment", { projectId })).toEqual({ projectId });
    const base = `${api.service.url}/serving/${projectId}`;
    await expect(api.call("recommendItemsToUser", { userId: "u1" }, { base })).rejects.toMatchObject({
      status: 409,
      error: { code: "NOT_DEPLOYED", message: expect.stringContaining(projectId) },
    });
    const elsewhere = { base: `${api.service.url}/serving/nowhere` };
    await expect(api.call("recommendItemsToUser", { userId: "u1" }, elsewhere)).rejects.toMatchObject({
      status: 404,
    });
  });
});
