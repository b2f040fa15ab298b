import { limits, routes } from "../../../contract";
import { Running } from "../running";
import { deploy, openShop, trainModel } from "../shop";
import { catalogue, type CatalogueItem as Item } from "./catalogue";

describe("similar items", () => {
  const records = catalogue();
  const attributesOf = new Map(records.items.map(({ itemId, attributes }) => [itemId, attributes as Item]));
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  let servingUri: string;
  beforeAll(async () => {
    api = await Running.start();
    shop = await openShop(api, records);
    servingUri = await deploy(api, shop.projectId, await trainModel(api, shop), { qps: 100_000 });
  });
  afterAll(() => api.end());

  const ask = (itemIds: string[], more: object = {}, base?: string) =>
    api.call("recommendItemsToItem", { itemIds, limit: 1000, ...more }, base === undefined ? {} : { base });
  const idsOf = async (...asked: Parameters<typeof ask>) =>
    (await ask(...asked)).results.map(({ item }) => item.itemId);
  const genreOf = (id: string) => attributesOf.get(id)?.genre[0];

  test("are those that the same users choose, without the given ones", async () => {
    for (const id of ["i0", "i1", "i2", "i3"]) {
      const ids = await idsOf([id], { limit: 8 });
      expect(ids).not.toContain(id);
      expect(ids.filter((one) => genreOf(one) === genreOf(id)).length).toBeGreaterThanOrEqual(6);
    }
    const ids = await idsOf(["i0", "i4", "i8"], { limit: 8 });
    expect(ids.filter((one) => genreOf(one) === "drama").length).toBeGreaterThanOrEqual(6);
    expect(await idsOf(["i0"])).toHaveLength(records.items.length - 1);
  });

  test("of a new item come from its attributes, and new items are similar to others", async () => {
    const items = [{ itemId: "brand-new", attributes: { genre: ["action"], title: "Brand new" } }];
    await api.call("upsertDatasetItems", { itemDatasetId: shop.itemDatasetId, items });
    for (const _ of [1, 2]) {
      const ids = await idsOf(["brand-new"], { limit: 8 });
      expect(ids.filter((one) => genreOf(one) === "action").length).toBeGreaterThanOrEqual(6);
      expect((await idsOf(["i2"], { limit: 15 })).includes("brand-new")).toBe(true);
    }
  });

  test("have the requested attributes, and the reply contains the request", async () => {
    const more = { limit: 2, attributes: ["title", "missing"], filterQuery: "item.featured" };
    const reply = await ask(["i1"], more);
    expect(reply).toMatchObject({ itemIds: ["i1"], ...more });
    for (const { item } of reply.results)
      expect(item.attributes).toEqual({ title: attributesOf.get(item.itemId)?.title, missing: null });
  });

  test("are limited by the same options as recommendations for a user, in the same order", async () => {
    const all = await idsOf(["i1"]);
    const inStock = (id: string) => attributesOf.get(id)?.in_stock === "yes";
    const filterQuery = 'item.in_stock == "yes"';
    const kept = all.filter(inStock);
    expect(await idsOf(["i1"], { filterQuery })).toEqual(kept);
    expect(await idsOf(["i1"], { filterQuery, limit: 3 })).toEqual(kept.slice(0, 3));
    const excludeItemIds = all.slice(0, 2);
    expect(await idsOf(["i1"], { excludeItemIds })).toEqual(all.slice(2));
    expect(await idsOf(["i1"], { includeItemIds: all.slice(10, 20).reverse() })).toEqual(all.slice(10, 20));
    expect(await idsOf(["i1"], { events: [{ itemId: all[0] }] })).toEqual(all.slice(1));
    const combined = { filterQuery, excludeItemIds, includeItemIds: all.slice(0, 30) };
    expect(await idsOf(["i1"], combined)).toEqual(all.slice(2, 30).filter(inStock));
  });

  test("of unknown items are popular items, as for an unknown user", async () => {
    const popular = (await api.call("recommendItemsToUser", { userId: "stranger", limit: 5 })).results;
    expect(await idsOf(["unknown"], { limit: 5 })).toEqual(popular.map(({ item }) => item.itemId));
  });

  test("are also at the address of the deployment", async () => {
    expect(await idsOf(["i1"], {}, servingUri)).toEqual(await idsOf(["i1"]));
  });

  test("cannot be filtered by a user, and need valid options", async () => {
    const detailsOf = async (itemIds: string[], more: object = {}) =>
      (await ask(itemIds, more).catch((error) => error)).error.details;
    expect(await detailsOf(["i1"], { filterQuery: "user.country == item.country" })).toEqual([
      { path: "filter_query", message: expect.stringMatching(/^at character 1: there is no user/) },
    ]);
    expect(await detailsOf([])).toMatchObject([{ path: "item_ids" }]);
    expect(await detailsOf(Array(limits.similarTo + 1).fill("i1"))).toMatchObject([{ path: "item_ids" }]);
  });

  test("are advertised, and allowed to clients that recommend", async () => {
    const { path } = routes.recommendItemsToItem;
    expect((await api.raw("/healthz")).body.extensions).toContain(path);
  });

  test("count towards the rate limit of the deployment", async () => {
    const { jobId } = await api.call("submitDeploymentJob", {
      projectId: shop.projectId,
      name: "slow",
      generatorModelId: (await api.call("listModels", { projectId: shop.projectId })).models[0]
        ?.modelId as string,
      qps: 1,
    });
    await api.finished(shop.projectId, jobId);
    const calls = await Promise.allSettled(Array.from({ length: 20 }, () => ask(["i1"])));
    const refused = calls.filter((call) => call.status === "rejected");
    expect(refused.length).toBeGreaterThan(0);
    for (const { reason } of refused) expect(reason).toMatchObject({ status: 429 });
  });
});
