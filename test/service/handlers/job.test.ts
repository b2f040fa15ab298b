import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { formatOrigin } from "../../../contract/origin";
import { Pool } from "../../../service/threads/pool";
import type { Progress } from "../../../service/threads/train";
import { ManualClock } from "../manual-clock";
import { Running } from "../running";
import { openShop, trainModel } from "../shop";
import { signIn } from "../visitor";

/** Takes the lock of changing calls, like a slow call. A service with a data directory has no such lock. */
async function holdControlLock({ options: { store } }: Running): Promise<() => Promise<void>> {
  if (store === undefined) return async () => undefined;
  const client = new Client({ connectionString: store });
  await client.connect();
  await client.query("select pg_advisory_lock(7146282301)");
  return () => client.end();
}

describe("jobs", () => {
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  const clock = new ManualClock();
  beforeAll(async () => {
    api = await Running.start({ clock, faults: true });
    shop = await openShop(api);
  });
  afterEach(() => switchOn({}));
  afterAll(() => api.end());

  async function switchOn(faults: object): Promise<void> {
    const { status } = await api.raw("/faults", {
      method: "PUT",
      headers: { apikey: api.service.key, "content-type": "application/json" },
      body: JSON.stringify(faults),
    });
    expect(status).toBe(200);
  }

  async function submit(name: string) {
    const { projectId, algorithmId } = shop;
    return (await api.call("submitTrainingJob", { projectId, algorithmId, name })).jobId;
  }

  test("a training creates one model, named after the job, and reports its parameters and its quality", async () => {
    const jobId = await submit("weekly");
    const job = await api.finished(shop.projectId, jobId);
    expect(job).toMatchObject({
      projectId: shop.projectId,
      jobId,
      jobType: "TRAINING",
      name: "weekly",
      createdTs: clock.now(),
      jobStatus: "SUCCEED",
      retryCount: 0,
      jobData: {
        algorithmType: "G1",
        algorithmParameters: { dimensions: 8, regularization: 0.05, alpha: 0.3, epochs: 8 },
        chosenParameters: expect.objectContaining({
          dimensions: 8,
          epochs: 8,
          regularization_exponent: expect.any(Number),
        }),
        quality: {
          recallAt20: expect.any(Number),
          ndcgAt20: expect.any(Number),
          popularityRecallAt20: expect.any(Number),
          popularityNdcgAt20: expect.any(Number),
          heldOutPairs: expect.any(Number),
          heldOutUsers: 20,
          holdOut: "latest",
          // With so few users, no ranking is learned.
          rankedNdcgAt20: null,
          unrankedNdcgAt20: null,
          ...{ coverageAt20: expect.any(Number), coldItemsAt20: expect.any(Number) },
          ...{ diversityAt20: expect.any(Number), shownPopularityAt20: expect.any(Number) },
          chosenPopularity: expect.any(Number),
        },
      },
    });
    expect(job.jobData).not.toHaveProperty("generatorModelId");
    const { models } = await api.call("listModels", { projectId: shop.projectId });
    expect(models).toEqual([
      {
        projectId: shop.projectId,
        modelId: job.jobResult?.modelId,
        name: "weekly",
        algorithmType: "G1",
        algorithmParameters: { dimensions: 8, regularization: 0.05, alpha: 0.3, epochs: 8 },
        createdTs: clock.now(),
        quality: job.jobData?.quality,
      },
    ]);
  });

  test("a running training reports progress even if a call has the lock, and no progress after its end", async () => {
    const { projectId } = shop;
    const { run } = Pool.prototype;
    const told: object[] = [];
    let jobId = "";
    let seen: unknown;
    const spy = jest.spyOn(Pool.prototype, "run").mockImplementation(async function (
      this: Pool,
      task,
      signal,
      onProgress = () => {},
    ) {
      const release = await holdControlLock(api);
      const done = await run.call(this, task, signal, (progress) => {
        const { phase, fraction, quality } = progress as Progress;
        told.push({ phase, fraction, recallAt20: quality?.recall20, ndcgAt20: quality?.ndcg20 });
        onProgress(progress);
        clock.advance(1000);
      });
      for (let look = 0; look < 200 && seen === undefined; look++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (jobId !== "") seen = (await api.call("getJob", { projectId, jobId })).jobData?.progress;
      }
      await release();
      return done;
    });
    jobId = await submit("watched");
    const { jobStatus, jobData } = await api.finished(projectId, jobId);
    spy.mockRestore();
    expect(told).toContainEqual(seen);
    expect(jobStatus).toBe("SUCCEED");
    expect(jobData).not.toHaveProperty("progress");
  });

  test("an unexpected error is retried up to three times, and the retries are counted", async () => {
    await switchOn({ jobs: [{ job_type: "TRAINING", name: "flaky", times: 3 }] });
    expect(await api.finished(shop.projectId, await submit("flaky"))).toMatchObject({
      jobStatus: "SUCCEED",
      retryCount: 3,
    });
  });

  test("the console shows the retries, the search and the origin of a job, which the API does not return", async () => {
    const { projectId, algorithmId } = shop;
    await switchOn({ jobs: [{ job_type: "TRAINING", name: "told", times: 2, message: "out of luck" }] });
    const origin = { project: "shop", stack: "a/b", resource: "100 % \u202Eü\0", release: "prod-1" };
    const input = { projectId, algorithmId, name: "told" };
    const send = (told: string) =>
      api.call("submitTrainingJob", input, {
        headers: { "recommender-origin": told, "idempotency-key": "told" },
      });
    const { jobId } = await send(formatOrigin(origin));
    // A repeated call with the same key gets the same response, with any origin.
    expect(await send("shop/other/ranker")).toEqual({ jobId });
    const job = await api.finished(projectId, jobId);
    expect(Object.keys(job.jobData ?? {}).sort()).toEqual([
      "algorithmParameters",
      "algorithmType",
      "chosenParameters",
      "quality",
    ]);
    const headers = await signIn(api);
    const read = async (view: string) => (await api.raw(`/console/api/${view}`, { headers })).body;
    const { retries, trials, data, ...shown } = await read(`job?id=${jobId}`);
    expect(shown).toMatchObject({ retryCount: 2, origin });
    const retry = { ts: clock.now(), reason: "out of luck" };
    expect(retries).toEqual([retry, retry]);
    expect(trials.length).toBeGreaterThan(0);
    expect(Math.max(...trials)).toBeGreaterThan(0);
    expect(data).not.toHaveProperty("origin");
    expect(await read(`model?id=${job.jobResult?.modelId}`)).toMatchObject({ origin, jobId });

    for (const odd of ["shop", "shop//x", "a/b/c/d/e", "a/b/%"]) {
      const refused = api.call("submitTrainingJob", input, { headers: { "recommender-origin": odd } });
      await expect(refused).rejects.toMatchObject({
        status: 400,
        error: {
          details: [{ path: "recommender-origin", message: expect.stringContaining("PROJECT/STACK") }],
        },
      });
    }
  });

  test("after the third retry the job fails with the reason, and leaves no model", async () => {
    const before = (await api.call("listModels", { projectId: shop.projectId })).models.length;
    await switchOn({ jobs: [{ name: "broken", times: 4, message: "the disk is on fire" }] });
    const job = await api.finished(shop.projectId, await submit("broken"));
    expect(job).toMatchObject({
      jobStatus: "FAILED",
      retryCount: 3,
      jobResult: { message: "the disk is on fire" },
    });
    expect((await api.call("listModels", { projectId: shop.projectId })).models).toHaveLength(before);
  });

  test("a permanent error is not retried", async () => {
    const { userDatasetId, itemDatasetId, eventDatasetId } = shop;
    const project = {
      name: "empty",
      userDatasetId,
      itemDatasetId,
      eventDatasetId,
      targetEventType: "nothing",
    };
    const { projectId } = await api.call("createProject", project);
    const { algorithmId } = await api.call("createAlgorithm", { projectId, name: "g1" });
    const { jobId } = await api.call("submitTrainingJob", { projectId, algorithmId, name: "empty" });
    expect(await api.finished(projectId, jobId)).toMatchObject({
      jobStatus: "FAILED",
      retryCount: 0,
      jobResult: { message: expect.stringContaining('no event of type "nothing"') },
    });
  });

  test("a delayed job runs until the clock has passed its delay", async () => {
    await switchOn({ job_delay_ms: 60_000 });
    const jobId = await submit("slow");
    const read = () => api.call("getJob", { projectId: shop.projectId, jobId });
    while ((await read()).jobStatus === "PENDING");
    clock.advance(59_999);
    expect(await read()).toMatchObject({ jobStatus: "RUNNING", jobResult: null });
    clock.advance(1);
    expect(await api.finished(shop.projectId, jobId)).toMatchObject({ jobStatus: "SUCCEED" });
  });

  test("references are checked at submission", async () => {
    const { projectId, algorithmId } = shop;
    const missing = { status: 404, error: { message: expect.stringContaining("nowhere") } };
    await expect(
      api.call("submitTrainingJob", { projectId: "nowhere", algorithmId, name: "n" }),
    ).rejects.toMatchObject(missing);
    await expect(
      api.call("submitTrainingJob", { projectId, algorithmId: "nowhere", name: "n" }),
    ).rejects.toMatchObject(missing);
    await expect(
      api.call("submitDeploymentJob", { projectId, generatorModelId: "nowhere", name: "n" }),
    ).rejects.toMatchObject(missing);
    await expect(api.call("getJob", { projectId, jobId: "nowhere" })).rejects.toMatchObject(missing);
  });

  test("a training of a project without an event dataset fails with the reason", async () => {
    const own = await openShop(api);
    await api.call("deleteEventDataset", { eventDatasetId: own.eventDatasetId });
    const { projectId, algorithmId } = own;
    await expect(api.call("submitTrainingJob", { projectId, algorithmId, name: "n" })).rejects.toMatchObject({
      status: 409,
      error: { code: "CONFLICT", message: expect.stringContaining(own.eventDatasetId) },
    });
  });
});

describe("a service that ends while a job runs", () => {
  test("resumes it at the next start, without counting a retry after a clean exit", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "jobs-"));
    const clock = new ManualClock();
    let api = await Running.start({ clock, dataDir, jobDelayMs: 1000 });
    const shop = await openShop(api);
    const { projectId, algorithmId } = shop;
    const { jobId } = await api.call("submitTrainingJob", { projectId, algorithmId, name: "weekly" });
    while ((await api.call("getJob", { projectId, jobId })).jobStatus !== "RUNNING");
    await api.end();
    api = await Running.start({ clock, dataDir });
    expect(await api.finished(projectId, jobId)).toMatchObject({ jobStatus: "SUCCEED", retryCount: 0 });
    expect((await api.call("listModels", { projectId })).models).toHaveLength(1);
    await trainModel(api, shop);
    await api.end();
    rmSync(dataDir, { recursive: true });
  });
});
