import { Running } from "../running";
import { deploy, openShop, trainModel } from "../shop";

describe("models", () => {
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  beforeAll(async () => {
    api = await Running.start();
    shop = await openShop(api);
  });
  afterAll(() => api.end());

  test("are read, listed in order of creation, and renamed", async () => {
    const { projectId } = shop;
    const first = await trainModel(api, shop, "first");
    const second = await trainModel(api, shop, "second");
    const { models } = await api.call("listModels", { projectId });
    expect(models.map(({ modelId }) => modelId)).toEqual([first, second]);
    const renamed = await api.call("updateModel", { projectId, modelId: first, name: "renamed" });
    expect(renamed).toMatchObject({ modelId: first, name: "renamed" });
    expect(await api.call("getModel", { projectId, modelId: first })).toEqual(renamed);
  });

  test("report the quality that their trainings measured, also next to newer models", async () => {
    const project = await openShop(api);
    const { projectId } = project;
    const [older, newer] = [await trainModel(api, project), await trainModel(api, project)];
    const { models } = await api.call("listModels", { projectId });
    expect(models.map(({ modelId }) => modelId)).toEqual([older, newer]);
    for (const { modelId, quality } of models) {
      expect(quality).toMatchObject({ ndcgAt20: expect.any(Number), heldOutPairs: expect.any(Number) });
      expect((await api.call("getModel", { projectId, modelId })).quality).toEqual(quality);
    }
  });

  test("are deleted only if they are not deployed", async () => {
    const { projectId } = shop;
    const generatorModelId = await trainModel(api, shop);
    const rankerModelId = await trainModel(api, shop);
    await deploy(api, projectId, generatorModelId, { rankerModelId });
    for (const modelId of [generatorModelId, rankerModelId]) {
      await expect(api.call("deleteModel", { projectId, modelId })).rejects.toMatchObject({
        status: 409,
        error: { code: "MODEL_DEPLOYED", message: expect.stringContaining("/shutdown-deployment") },
      });
    }
    await api.call("shutdownDeployment", { projectId });
    const last = await api.call("getModel", { projectId, modelId: generatorModelId });
    expect(await api.call("deleteModel", { projectId, modelId: generatorModelId })).toEqual(last);
    await expect(api.call("getModel", { projectId, modelId: generatorModelId })).rejects.toMatchObject({
      status: 404,
    });
    const again = { projectId, name: "again", generatorModelId };
    await expect(api.call("submitDeploymentJob", again)).rejects.toMatchObject({ status: 404 });
  });

  test("report how many events arrived after their training", async () => {
    const project = await openShop(api);
    const { projectId, eventDatasetId } = project;
    const modelId = await trainModel(api, project);
    const before = await api.call("countModelEvents", { projectId, modelId });
    expect(before).toEqual({
      projectId,
      modelId,
      createdTs: (await api.call("getModel", { projectId, modelId })).createdTs,
      eventCount: 400,
      newEventCount: 0,
    });
    const event = { itemId: "i1", ts: 1_700_000_000_000, eventType: "purchase" };
    const events = ["late", "later"].map((userId, at) => ({ ...event, userId, eventId: `new${at}` }));
    await api.call("upsertDatasetEvents", { eventDatasetId, events });
    expect(await api.call("countModelEvents", { projectId, modelId })).toMatchObject({
      eventCount: 402,
      newEventCount: 2,
    });
    const { userIds } = await api.call("listRecentUsers", { projectId });
    expect(userIds.slice(0, 2)).toEqual(["later", "late"]);
    expect(new Set(userIds).size).toBe(42);
  });

  test("of another project are not found", async () => {
    const modelId = await trainModel(api, shop);
    const other = await openShop(api);
    await expect(api.call("getModel", { projectId: other.projectId, modelId })).rejects.toMatchObject({
      status: 404,
    });
  });
});
