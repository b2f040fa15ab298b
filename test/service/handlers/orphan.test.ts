import { originHeader } from "../../../contract/origin";
import { dataDirectoryAt } from "../../../service";
import { connect } from "../../../service/store/database";
import { testOfOneApi } from "../database";
import { Running } from "../running";
import { deploy, openShop, trainModel } from "../shop";
import { signIn } from "../visitor";

describe("orphaned objects", () => {
  let api: Running;
  beforeAll(async () => {
    api = await Running.start();
  });
  afterAll(() => api.end());

  const listed = async () => (await api.call("listOrphans", {})).orphans;
  const mark = (objectType: "PROJECT" | "USER_DATASET" | "ITEM_DATASET" | "ALGORITHM", objectId: string) =>
    api.call("markOrphaned", { objectType, objectId }, { headers: { [originHeader]: "shop/dev/items" } });

  test("are listed with their last resource, until a program uses them again", async () => {
    const { itemDatasetId } = await api.call("createItemDataset", { name: "old", numShards: 1 });
    expect(await listed()).toEqual([]);
    await mark("ITEM_DATASET", itemDatasetId);
    expect(await listed()).toEqual([
      {
        objectType: "ITEM_DATASET",
        objectId: itemDatasetId,
        name: "old",
        orphanedTs: expect.any(Number),
        orphanedBy: "shop/dev/items",
        blockedBy: null,
      },
    ]);
    await api.call("markOrphaned", { objectType: "ITEM_DATASET", objectId: itemDatasetId, orphaned: false });
    expect(await listed()).toEqual([]);
  });

  describe("that several stacks use", () => {
    const from = (stack: string) => ({ headers: { [originHeader]: `shop/${stack}/users` } });
    const objectType = "USER_DATASET" as const;
    const create = async (sent = {}) =>
      (await api.call("createUserDataset", { name: "shared", numShards: 1 }, sent)).userDatasetId;
    const adopt = (objectId: string, stack: string) =>
      api.call("markOrphaned", { objectType, objectId, orphaned: false }, from(stack));
    const leave = (objectId: string, stack: string) =>
      api.call("markOrphaned", { objectType, objectId }, from(stack));
    const leavers = async (objectId: string) =>
      (await listed()).flatMap((orphan) => (orphan.objectId === objectId ? orphan.orphanedBy : []));

    test("are orphaned only when the last stack releases them", async () => {
      const objectId = await create(from("a"));
      await adopt(objectId, "b");
      expect(await leave(objectId, "a")).toMatchObject({ orphaned: false, heldBy: ["shop/b"] });
      expect(await leavers(objectId)).toEqual([]);
      await expect(api.call("deleteOrphan", { objectType, objectId })).rejects.toMatchObject({ status: 409 });
      expect(await leave(objectId, "b")).toMatchObject({ orphaned: true, heldBy: [] });
      expect(await leavers(objectId)).toEqual(["shop/b/users"]);
      await adopt(objectId, "c");
      expect(await leavers(objectId)).toEqual([]);
      await leave(objectId, "c");
      await api.call("deleteOrphan", { objectType, objectId });
      expect(await api.ask(`select holder from holders where object_id = '${objectId}'`)).toEqual([]);
    });

    test("stay if only the adopting stack releases them, even if their creator is unknown", async () => {
      const objectId = await create();
      await adopt(objectId, "b");
      expect(await leave(objectId, "b")).toMatchObject({ orphaned: false, heldBy: [] });
      expect(await leave(objectId, "creator")).toMatchObject({ orphaned: true });
      await api.call("deleteOrphan", { objectType, objectId });
    });

    test("are orphaned by the first stack that releases them if an earlier version recorded no stack", async () => {
      const objectId = await create(from("a"));
      await removeHolders(objectId);
      expect(await leave(objectId, "b")).toMatchObject({ orphaned: true });
      await api.call("deleteOrphan", { objectType, objectId });
    });

    test("keep a project if a stack uses one of its algorithms", async () => {
      const { projectId, algorithmId } = await openShop(api);
      await api.call(
        "markOrphaned",
        { objectType: "ALGORITHM", objectId: algorithmId, orphaned: false },
        from("b"),
      );
      await mark("PROJECT", projectId);
      const project = { objectType: "PROJECT" as const, objectId: projectId };
      await expect(api.call("deleteOrphan", project)).rejects.toMatchObject({
        message: expect.stringContaining(`Stack shop/b uses its algorithm ${algorithmId}.`),
      });
      await api.call("markOrphaned", { ...project, orphaned: false }, from("b"));
    });

    async function removeHolders(objectId: string): Promise<void> {
      const db = connect(api.options.store ?? dataDirectoryAt(api.service.dataDir).database, {
        writes: true,
      });
      await db.deleteFrom("holders").where("object_id", "=", objectId).execute();
      await db.destroy();
    }
  });

  test("can be deleted with their contents, and other objects cannot", async () => {
    const shop = await openShop(api);
    const modelId = await trainModel(api, shop);
    await deploy(api, shop.projectId, modelId);
    const { projectId, userDatasetId, itemDatasetId, algorithmId } = shop;
    const project = { objectType: "PROJECT" as const, objectId: projectId };
    await expect(api.call("deleteOrphan", project)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining("is not orphaned: a program may use it"),
    });
    await mark("ITEM_DATASET", itemDatasetId);
    await mark("USER_DATASET", userDatasetId);
    await mark("ALGORITHM", algorithmId);
    await mark("PROJECT", projectId);
    const users = { objectType: "USER_DATASET" as const, objectId: userDatasetId };
    await expect(api.call("deleteOrphan", users)).rejects.toMatchObject({
      message: expect.stringContaining(`Project ${projectId} uses it. Delete the project first.`),
    });
    await expect(api.call("deleteOrphan", project)).rejects.toMatchObject({
      message: expect.stringContaining(`Run \`recommender shutdown --project ${projectId}\` first.`),
    });
    await api.call("shutdownDeployment", { projectId });
    await api.call("deleteOrphan", project);
    await expect(api.call("listModels", { projectId })).rejects.toMatchObject({ status: 404 });
    await expect(api.call("getProject", { projectId })).rejects.toMatchObject({ status: 404 });
    expect((await listed()).map(({ objectType }) => objectType).sort()).toEqual([
      "ITEM_DATASET",
      "USER_DATASET",
    ]);
    await api.call("deleteOrphan", users);
    await api.call("deleteOrphan", { objectType: "ITEM_DATASET", objectId: itemDatasetId });
    expect(await listed()).toEqual([]);
    await expect(api.call("getUserDataset", { userDatasetId })).rejects.toMatchObject({ status: 404 });
    const upsert = { userDatasetId, users: [{ userId: "ada", attributes: {} }] };
    await expect(api.call("upsertDatasetUsers", upsert)).rejects.toMatchObject({ status: 404 });
  });

  test("the operations beyond the specification are advertised without credentials", async () => {
    const { body } = await api.raw("/healthz");
    expect(body.extensions).toEqual(expect.arrayContaining(["/mark-orphaned", "/get-project"]));
  });
});

describe("an object that the specification cannot read", () => {
  let api: Running;
  beforeAll(async () => {
    api = await Running.start();
  });
  afterAll(() => api.end());

  test("is returned by extensions with its arguments", async () => {
    const shop = await openShop(api);
    const { projectId, algorithmId, userDatasetId, itemDatasetId, eventDatasetId } = shop;
    expect(await api.call("getUserDataset", { userDatasetId })).toEqual({
      userDatasetId,
      name: "users",
      numShards: 1,
      attributeSchema: null,
    });
    expect(await api.call("getItemDataset", { itemDatasetId })).toMatchObject({
      itemDatasetId,
      name: "items",
    });
    expect(await api.call("getProject", { projectId })).toMatchObject({
      projectId,
      ...{ name: "shop", userDatasetId, itemDatasetId, eventDatasetId, targetEventType: "purchase" },
    });
    expect(await api.call("getAlgorithm", { projectId, algorithmId })).toMatchObject({
      algorithmId,
      name: "g1",
      algorithmParameters: { dimensions: 8 },
    });
    await expect(api.call("getDeployment", { projectId })).rejects.toMatchObject({
      status: 409,
      error: { code: "NOT_DEPLOYED" },
    });
    const generatorModelId = await trainModel(api, shop);
    await deploy(api, projectId, generatorModelId, { qps: 7 });
    expect(await api.call("getDeployment", { projectId })).toMatchObject({
      projectId,
      ...{ generatorModelId, rankerModelId: null, qps: 7 },
    });
  });
});

describe("the stable address of a stack", () => {
  let api: Running;
  beforeAll(async () => {
    api = await Running.start();
  });
  afterAll(() => api.end());

  const origin = { [originHeader]: "shop/prod%2Feu/live" };

  async function deployFrom(headers: Record<string, string>): Promise<{ projectId: string; stable: string }> {
    const shop = await openShop(api);
    const { projectId } = shop;
    const generatorModelId = await trainModel(api, shop);
    const request = { projectId, name: "live", generatorModelId, qps: 1000 };
    const { jobId } = await api.call("submitDeploymentJob", request, { headers });
    const { jobResult } = await api.finished(projectId, jobId);
    return { projectId, stable: jobResult?.stableServingUri as string };
  }

  test("uses the replacement of its project as soon as it is deployed, before and after the old one is shut down", async () => {
    const first = await deployFrom(origin);
    expect(first.stable).toBe(`${api.service.url}/serving/stack/shop/prod%2Feu/live`);
    const path = "/recommend-items-to-user";
    const ask = async () =>
      api.raw(`${first.stable}${path}`, {
        method: "POST",
        headers: { ...(await api.headers(path)), "content-type": "application/json" },
        body: JSON.stringify({ user_id: "u1", limit: 3 }),
      });
    expect(await ask()).toMatchObject({ status: 200, body: { user_id: "u1" } });
    const second = await deployFrom(origin);
    expect(second.stable).toBe(first.stable);
    expect((await ask()).status).toBe(200);
    await api.call("shutdownDeployment", { projectId: first.projectId });
    expect((await ask()).status).toBe(200);
    await api.call("shutdownDeployment", { projectId: second.projectId });
    expect(await ask()).toMatchObject({ status: 409, body: { error: { code: "NOT_DEPLOYED" } } });
  });

  testOfOneApi("counts its calls as traffic of the project that answers", async () => {
    const { projectId, stable } = await deployFrom(origin);
    const other = await deployFrom({ [originHeader]: "shop/dev/live" });
    await api.call("recommendItemsToUser", { userId: "u1" }, { base: stable });
    await api.call("recommendItemsToUser", { userId: "u2" }, { base: stable });
    const headers = await signIn(api);
    const answered = async (project: string) =>
      (await api.raw(`/console/api/serving?project=${project}`, { headers })).body.recent.answered;
    expect([await answered(projectId), await answered(other.projectId)]).toEqual([2, 0]);
    for (const one of [projectId, other.projectId]) await api.call("shutdownDeployment", { projectId: one });
  });

  test("does not exist for a deployment whose stack is unknown", async () => {
    expect((await deployFrom({})).stable).toBeUndefined();
  });
});
