import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "../../../service";
import { Running } from "../running";
import { deploy, openShop, trainModel } from "../shop";
import { eventually, openWatched, settled } from "./watched";

describe("threads", () => {
  test("are few at a start with many deployments, do all of them, and end when there is nothing to do", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "threads-"));
    const first = await Running.start({ dataDir });
    const shop = await openShop(first);
    const { userDatasetId, itemDatasetId, eventDatasetId } = shop;
    const projects = [];
    for (const name of ["a", "b", "c", "d", "e"]) {
      const fields = { name, userDatasetId, itemDatasetId, eventDatasetId, targetEventType: "purchase" };
      const { projectId } = await first.call("createProject", fields);
      const algorithmParameters = { dimensions: 2, regularization: 0.1, alpha: 0.3, epochs: 1 };
      const { algorithmId } = await first.call("createAlgorithm", { projectId, name, algorithmParameters });
      await deploy(first, projectId, await trainModel(first, { projectId, algorithmId }));
      projects.push(projectId);
    }
    await first.end();

    const clock = new ManualClock();
    const api = await Running.start({ dataDir, clock });
    const status = async () => (await api.raw("/status", { headers: { apikey: api.service.key } })).body;
    expect((await status()).threads).toBe(1);
    for (const projectId of projects) {
      const base = `${api.service.url}/serving/${projectId}`;
      const { results } = await api.call("recommendItemsToUser", { userId: "u1" }, { base });
      expect(results).toHaveLength(10);
      expect((await status()).threads).toBe(1);
    }
    clock.advance(60_000);
    await eventually(async () => (await status()).threads === 0);
    await api.end();
    rmSync(dataDir, { recursive: true });
  });

  test("of queries are not those of deployments", async () => {
    const { api, shop, read, end } = await openWatched();
    const { projectId } = shop;
    const modelId = await trainModel(api, shop);
    const distribution = { attribute: "genre", value: "drama", bins: 1000 };
    // Enough of them that the last is still far off when the deployment ends, unless that waits its turn behind them.
    let last = "";
    for (let count = 0; count < 30; count++) {
      const { jobId } = await api.call("submitQueryingJob", {
        projectId,
        modelId,
        name: `query ${count}`,
        queryType: "user_distribution",
        queries: Array.from({ length: 100 }, () => distribution),
      });
      last = jobId;
    }
    const { jobId } = await api.call("submitDeploymentJob", {
      projectId,
      name: "live",
      generatorModelId: modelId,
    });
    await eventually(async () => (await read(jobId)).jobStatus === "SUCCEED");
    expect((await read(last)).jobStatus).not.toBe("SUCCEED");
    await end();
  });

  /** Training jobs that take for ever. */
  const endless = async ({ api, shop: { projectId } }: Awaited<ReturnType<typeof openWatched>>) => {
    const algorithmParameters = { dimensions: 512, regularization: 0.1, alpha: 0.3, epochs: 200 };
    const fields = { projectId, name: "endless", algorithmParameters };
    const { algorithmId } = await api.call("createAlgorithm", fields);
    return async () =>
      (await api.call("submitTrainingJob", { projectId, algorithmId, name: "endless" })).jobId;
  };

  test("are shared by as many trainings as have two each, whatever the machine has", async () => {
    const watched = await openWatched({ threads: 4 });
    const submit = await endless(watched);
    const jobs = [await submit(), await submit(), await submit()];
    await eventually(async () => (await watched.threads()) === 2);
    await settled();
    const states = await Promise.all(jobs.map(async (id) => (await watched.read(id)).jobStatus));
    expect([states.sort(), await watched.threads()]).toEqual([["PENDING", "RUNNING", "RUNNING"], 2]);
    await watched.end();
  });

  test("that take too long are ended, and the job says so", async () => {
    const watched = await openWatched();
    const { clock, api, submit, read, threads, end } = watched;
    const jobId = await (await endless(watched))();
    await eventually(async () => (await threads()) === 1);
    clock.advance(299 * 60_000);
    api.forgetTokens();
    await settled();
    expect(await read(jobId)).toMatchObject({ jobStatus: "RUNNING" });
    clock.advance(60_000);
    await eventually(async () => (await read(jobId)).jobStatus === "FAILED");
    expect(await read(jobId)).toMatchObject({
      retryCount: 0,
      jobResult: { message: expect.stringContaining("ended after 300 minutes") },
    });
    const next = await submit("next");
    await eventually(async () => (await read(next)).jobStatus === "SUCCEED");
    await end();
  });
});
