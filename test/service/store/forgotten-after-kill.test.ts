import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "../process";
import { Caller } from "../running";
import { openShop } from "../shop";
import { forgotten, idsFor, records } from "./forgotten-user";

test("a forgotten user stays unknown after a kill, regardless of deletions and deployments", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "forgotten-"));
  const life = async (work: (api: Caller) => Promise<void>) => {
    const service = await serve("--data", dataDir);
    const api = new Caller(service);
    await work(api).finally(async () => {
      await service.end("SIGKILL");
      await api.close();
    });
  };
  let shop = {} as Awaited<ReturnType<typeof openShop>>;
  let modelId = "";
  const deployed = async (api: Caller) => {
    const wanted = { projectId: shop.projectId, name: "live", generatorModelId: modelId, qps: 1000 };
    await ended(api, shop.projectId, (await api.call("submitDeploymentJob", wanted)).jobId);
  };
  const expectStranger = async (api: Caller) =>
    expect(await idsFor(api, forgotten)).toEqual(await idsFor(api, "stranger"));
  await life(async (api) => {
    shop = await openShop(api, records);
    const { projectId, algorithmId } = shop;
    const { jobId } = await api.call("submitTrainingJob", { projectId, algorithmId, name: "weekly" });
    modelId = (await ended(api, shop.projectId, jobId)).jobResult?.modelId as string;
    await deployed(api);
    await api.call("deleteDatasetUserEvents", { eventDatasetId: shop.eventDatasetId, userId: forgotten });
  });
  await life(async (api) => {
    await expectStranger(api);
    await api.call("deleteEventDataset", { eventDatasetId: shop.eventDatasetId });
    await expectStranger(api);
  });
  await life(async (api) => {
    await expectStranger(api);
    await deployed(api);
    await expectStranger(api);
  });
  rmSync(dataDir, { recursive: true });
});

async function ended(api: Caller, projectId: string, jobId: string) {
  for (;;) {
    const job = await api.call("getJob", { projectId, jobId });
    if (job.jobStatus === "SUCCEED") return job;
    if (job.jobStatus === "FAILED") throw new Error(JSON.stringify(job));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
