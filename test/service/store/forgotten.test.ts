import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "../../../service/threads/pool";
import { Running } from "../running";
import { closeShop, deploy, openShop, trainModel } from "../shop";
import { forgotten, idsFor, records } from "./forgotten-user";

describe("a forgotten user", () => {
  let dataDir: string;
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  let modelId: string;
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "forgotten-"));
    api = await Running.start({ dataDir });
  });
  beforeEach(async () => {
    shop = await openShop(api, records);
    modelId = await trainModel(api, shop);
  });
  afterEach(() => closeShop(api, shop));
  afterAll(async () => {
    await api.end();
    rmSync(dataDir, { recursive: true });
  });

  const forget = (userId = forgotten) =>
    api.call("deleteDatasetUserEvents", { eventDatasetId: shop.eventDatasetId, userId });
  const restart = async () => {
    await api.end();
    api = await Running.start({ dataDir });
  };
  const idsOf = (userId: string) => idsFor(api, userId, shop.projectId);
  const expectStranger = async () => expect(await idsOf(forgotten)).toEqual(await idsOf("stranger"));
  const rankerOf = async () => {
    const algorithmParameters = { dimensions: 2, regularization: 0.5, alpha: 5, epochs: 1 };
    const { projectId } = shop;
    const { algorithmId } = await api.call("createAlgorithm", { projectId, name: "r", algorithmParameters });
    return trainModel(api, { projectId, algorithmId }, "ranker");
  };

  test.each([false, true])(
    "stays forgotten when the event dataset is deleted, the model redeployed and the service restarted (ranker: %s)",
    async (ranked) => {
      const { projectId, eventDatasetId } = shop;
      const more = { qps: 100_000, ...(ranked ? { rankerModelId: await rankerOf() } : {}) };
      await deploy(api, projectId, modelId, more);
      expect(await idsOf(forgotten)).not.toEqual(await idsOf("stranger"));
      await forget();
      await expectStranger();
      const alive = await idsOf(forgotten);
      await api.call("deleteEventDataset", { eventDatasetId });
      await expectStranger();
      await restart();
      await expectStranger();
      expect(await idsOf(forgotten)).toEqual(alive);
      await deploy(api, projectId, modelId, more);
      await expectStranger();
      expect(await idsOf("u4")).not.toEqual(await idsOf("stranger"));
    },
  );

  test("is in no query or clustering of an earlier model, even after a restart", async () => {
    const everybody = records.users.length;
    expect(await usersOf(modelId)).toEqual({ listed: everybody, counted: everybody, grouped: everybody });
    await forget();
    const others = { listed: everybody - 1, counted: everybody - 1, grouped: everybody - 1 };
    expect(await usersOf(modelId)).toEqual(others);
    await restart();
    await api.call("deleteEventDataset", { eventDatasetId: shop.eventDatasetId });
    expect(await usersOf(modelId)).toEqual(others);
  });

  test("is in no model whose training had read the events when they were deleted", async () => {
    const { run } = Pool.prototype;
    const spy = jest.spyOn(Pool.prototype, "run").mockImplementation(async function (this: Pool, task) {
      const result = await run.call(this, task);
      if (task.kind === "TRAINING") await forget();
      return result as never;
    });
    const late = await trainModel(api, shop).finally(() => spy.mockRestore());
    expect((await usersOf(late)).listed).toBe(records.users.length - 1);
    await deploy(api, shop.projectId, late, { qps: 100_000 });
    await expectStranger();
  });

  test("is in no result of a job that ran when the events were deleted", async () => {
    const { run } = Pool.prototype;
    const spy = jest.spyOn(Pool.prototype, "run").mockImplementationOnce(async function (this: Pool, task) {
      const result = await run.call(this, task);
      await forget();
      return result as never;
    });
    const wanted = { name: "groups", projectId: shop.projectId, modelId, parameters: {} };
    const { groups } = await result(api.call("submitClusteringJob", wanted)).finally(() => spy.mockRestore());
    expect(sum(groups.map((group: { size: number }) => group.size))).toBe(records.users.length - 1);
  });

  test("does not count as a retry of a job that ran when the events were deleted", async () => {
    const { run } = Pool.prototype;
    let left = 6;
    const spy = jest.spyOn(Pool.prototype, "run").mockImplementation(async function (this: Pool, task) {
      const result = await run.call(this, task);
      if (task.kind === "CLUSTERING" && left-- > 0) await forget(`u${left}`);
      return result as never;
    });
    const wanted = { name: "groups", projectId: shop.projectId, modelId, parameters: {} };
    const { jobId } = await api.call("submitClusteringJob", wanted);
    const job = await api.finished(shop.projectId, jobId).finally(() => spy.mockRestore());
    expect([job.jobStatus, job.retryCount]).toEqual(["SUCCEED", 0]);
  });

  test("no longer influences items that only this user interacted with, immediately and after a restart", async () => {
    const solo = ["placed", "bare", "unrecorded"];
    const attributes = { placed: records.items[3]?.attributes, bare: {} };
    await api.call("upsertDatasetItems", {
      itemDatasetId: shop.itemDatasetId,
      items: Object.entries(attributes).map(([itemId, own]) => ({ itemId, attributes: own ?? {} })),
    });
    await api.call("upsertDatasetEvents", {
      eventDatasetId: shop.eventDatasetId,
      events: solo.map((itemId) => ({
        ...{ eventId: itemId, userId: forgotten, itemId, ts: 1, eventType: "purchase", eventValue: 5 },
      })),
    });
    await deploy(api, shop.projectId, await trainModel(api, shop), { qps: 100_000 });
    const lists = () => Promise.all(["u7", "u11", "u4"].map((userId) => idsOf(userId)));
    const before = await lists();
    expect(before[0]?.slice(-2)).not.toEqual(expect.arrayContaining(["bare", "unrecorded"]));
    await forget();
    const after = await lists();
    for (const list of after) expect(list.slice(-2).sort()).toEqual(["bare", "unrecorded"]);
    expect(after[0]?.indexOf("placed")).toBeLessThan(after[2]?.indexOf("placed") as number);
    await restart();
    expect(await lists()).toEqual(after);
  });

  test("is known again to a model that is trained with new events", async () => {
    await deploy(api, shop.projectId, modelId, { qps: 100_000 });
    await forget();
    const events = [
      { eventId: "again", userId: forgotten, itemId: "i0", ts: 1, eventType: "purchase" },
      { eventId: "once more", userId: forgotten, itemId: "i4", ts: 1, eventType: "purchase" },
    ];
    await api.call("upsertDatasetEvents", { eventDatasetId: shop.eventDatasetId, events });
    const live = await idsOf(forgotten);
    expect(live).not.toContain("i0");
    await deploy(api, shop.projectId, modelId, { qps: 100_000 });
    expect(await idsOf(forgotten)).toEqual(live);
    expect((await usersOf(await trainModel(api, shop))).listed).toBe(records.users.length);
    expect((await usersOf(modelId)).listed).toBe(records.users.length - 1);
  });

  test("gets the same vector from the same events when they are uploaded again as in a new deployment", async () => {
    const more = { qps: 100_000 };
    await deploy(api, shop.projectId, modelId, more);
    await forget();
    const events = records.events.filter(({ userId }) => userId === forgotten);
    await api.call("upsertDatasetEvents", { eventDatasetId: shop.eventDatasetId, events });
    const live = await idsOf(forgotten);
    await deploy(api, shop.projectId, modelId, more);
    expect(await idsOf(forgotten)).toEqual(live);
  });

  test("is in no result of a job whose model was deleted after the events were", async () => {
    const results = () => readdirSync(join(dataDir, "results"));
    const others = results();
    const { run } = Pool.prototype;
    const spy = jest.spyOn(Pool.prototype, "run").mockImplementationOnce(async function (this: Pool, task) {
      const result = await run.call(this, task);
      await forget();
      await api.call("deleteModel", { projectId: shop.projectId, modelId });
      return result as never;
    });
    const wanted = { name: "groups", projectId: shop.projectId, modelId, parameters: {} };
    const { jobId } = await api.call("submitClusteringJob", wanted);
    const job = await api.finished(shop.projectId, jobId).finally(() => spy.mockRestore());
    expect(job.jobStatus).toBe("FAILED");
    expect(job.jobResult?.message).toMatch(/deleted before the job ran/);
    expect(results().filter((file) => !others.includes(file))).toEqual([]);
  });

  test("is not in earlier results, which are deleted, and their URL returns the reason", async () => {
    const wanted = { name: "groups", projectId: shop.projectId, modelId, parameters: {} };
    const { jobId } = await api.call("submitClusteringJob", wanted);
    const { jobResult } = await api.finished(shop.projectId, jobId);
    await forget();
    const { status, body } = await api.raw(jobResult?.downloadUrl as string);
    expect(status).toBe(404);
    expect(body.error.message).toMatch(
      /events of a user whom it may list were deleted. Submit the job again/,
    );
  });

  test("is remembered by a hash, until no earlier model is left", async () => {
    const ids = async () =>
      (await api.ask("select user_id from forgotten_users order by deletions")) as { user_id: string }[];
    const hash = expect.stringMatching(/^[\w-]{43}$/);
    await forget();
    expect(await ids()).toEqual([{ user_id: hash }]);
    await trainModel(api, shop);
    await api.call("deleteModel", { projectId: shop.projectId, modelId });
    expect(await ids()).toEqual([]);
    await forget("nobody");
    await trainModel(api, shop);
    await forget("u5");
    expect(await ids()).toEqual([{ user_id: hash }, { user_id: hash }]);
  });

  test("is remembered even if no model exists, because a training may begin during the deletion", async () => {
    await api.call("deleteModel", { projectId: shop.projectId, modelId });
    await forget();
    expect(await api.ask("select deletions from forgotten_users")).toHaveLength(1);
  });

  async function usersOf(model: string) {
    const job = { name: "who", projectId: shop.projectId, modelId: model };
    const query = { attribute: "genre", value: "drama" };
    const [list, distribution, clustering] = await Promise.all([
      result(
        api.call("submitQueryingJob", {
          ...job,
          queryType: "user_list",
          queries: [{ conditions: [{ ...query, lowerBound: 0 }] }],
        }),
      ),
      result(api.call("submitQueryingJob", { ...job, queryType: "user_distribution", queries: [query] })),
      result(api.call("submitClusteringJob", { ...job, parameters: {} })),
    ]);
    return {
      listed: list.queries[0].user_ids.length,
      counted: sum(distribution.queries[0].bins.map((bin: { users: number }) => bin.users)),
      grouped: sum(clustering.groups.map((group: { size: number }) => group.size)),
    };
  }

  async function result(submitted: Promise<{ jobId: string }>) {
    const { jobResult } = await api.finished(shop.projectId, (await submitted).jobId);
    return (await api.raw(jobResult?.downloadUrl as string)).body;
  }
});

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
