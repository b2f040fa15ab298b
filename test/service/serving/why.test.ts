import { explainHeader, routes } from "../../../contract";
import { Running } from "../running";
import { deploy, openShop, shopRecords, trainModel } from "../shop";
import { signIn } from "../visitor";

const { path } = routes.recommendItemsToUser;

describe("why an item is recommended", () => {
  const records = shopRecords();
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  let modelId: string;
  beforeAll(async () => {
    api = await Running.start();
    shop = await openShop(api, records);
    modelId = await trainModel(api, shop);
    await deploy(api, shop.projectId, modelId, { qps: 100_000 });
  });
  afterAll(() => api.end());

  const ask = (userId: string, most: string, limit = 5) =>
    api.call("recommendItemsToUser", { userId, limit }, { headers: { [explainHeader]: most } });
  const total = (why: Awaited<ReturnType<typeof ask>>["results"][number]["why"]) =>
    [...(why?.items ?? []), ...(why?.attributes ?? [])].reduce((sum, { adds }) => sum + adds, why?.rest ?? 0);
  const buy = (userId: string, ...itemIds: string[]) =>
    api.call("upsertDatasetEvents", {
      eventDatasetId: shop.eventDatasetId,
      events: itemIds.map((itemId) => ({
        ...{ eventId: `${userId}-${itemId}`, userId, itemId, ts: 1, eventType: "purchase" },
      })),
    });
  const describeUser = (userId: string, attributes: object) =>
    api.call("upsertDatasetUsers", {
      userDatasetId: shop.userDatasetId,
      users: [{ userId, attributes: { ...attributes } }],
    });

  test("a call without the option gets the specified response without reasons", async () => {
    const headers = { ...(await api.headers(path)), "content-type": "application/json" };
    const body = JSON.stringify({ user_id: "u1", limit: 1 });
    const { body: answer } = await api.raw(path, { method: "POST", headers, body });
    expect(Object.keys(answer).sort()).toEqual(["attributes", "filter_query", "limit", "results", "user_id"]);
    expect(Object.keys(answer.results[0])).toEqual(["item"]);
  });

  test("the items are the same as without reasons, each with the user's items that contribute most", async () => {
    const plain = await api.call("recommendItemsToUser", { userId: "u1", limit: 5 });
    const { basis, results } = await ask("u1", "3");
    expect(results.map(({ item }) => item)).toEqual(plain.results.map(({ item }) => item));
    expect(basis).toEqual({ from: "events", modelId, rankedBy: null });
    const own = records.events.filter(({ userId }) => userId === "u1").map(({ itemId }) => itemId);
    for (const { why } of results) {
      expect(why?.items).toHaveLength(3);
      const adds = why?.items.map((one) => one.adds) ?? [];
      expect(adds).toEqual(adds.toSorted((a, b) => b - a));
      expect(own).toEqual(expect.arrayContaining(why?.items.map(({ itemId }) => itemId) ?? []));
      expect(total(why)).toBeCloseTo(why?.score as number, 6);
    }
    expect((await ask("u1", "1")).results[0]?.why?.items).toHaveLength(1);
  });

  test("the contributions of a user's two items add up to the score, and a new item counts immediately", async () => {
    await buy("visitor", "i0", "i4");
    const { results } = await ask("visitor", "3");
    for (const { why } of results) {
      expect(why?.items.map(({ itemId }) => itemId).sort()).toEqual(["i0", "i4"]);
      expect(Math.abs(why?.rest as number)).toBeLessThan(1e-4 * (why?.score as number));
    }
    await buy("visitor", "i8");
    expect((await ask("visitor", "3")).results[0]?.why?.items).toContainEqual({
      ...{ itemId: "i8", adds: expect.any(Number) },
    });
  });

  test("the reasons of a user without events are attributes, and removing one lowers the score by its contribution", async () => {
    await describeUser("cold", { likes: "western", age: 30 });
    const { basis, results } = await ask("cold", "3");
    expect(basis?.from).toBe("attributes");
    const [{ item, why }] = results as [(typeof results)[number]];
    expect(why?.items).toEqual([]);
    const likes = why?.attributes.find(({ attribute }) => attribute === "likes");
    expect(total(why)).toBeCloseTo(why?.score as number, 6);
    await describeUser("cold", { age: 30 });
    const { results: without } = await ask("cold", "3", 60);
    const after = without.find((one) => one.item.itemId === item.itemId)?.why?.score as number;
    expect((why?.score as number) - after).toBeCloseTo(likes?.adds as number, 5);
  });

  test("an unknown user gets popular items without reasons", async () => {
    const { basis, results } = await ask("nobody", "2", 1);
    expect(basis?.from).toBe("popularity");
    expect(results[0]?.why).toEqual({
      score: expect.any(Number),
      items: [],
      attributes: [],
      rules: [],
      rest: expect.any(Number),
    });
  });

  test("the console handles keys and ids named __proto__ like any other", async () => {
    const headers = { ...(await signIn(api)), "content-type": "application/json", origin: api.service.url };
    const tried = (more: string) =>
      api.raw("/console/api/try", {
        ...{ method: "POST", headers },
        body: `{"projectId": ${JSON.stringify(shop.projectId)}, ${more}}`,
      });
    const basisOf = async (attributes: string) => (await tried(`"attributes": ${attributes}`)).body.basis;
    expect(await basisOf('{"likes": "western"}')).toBe("attributes");
    expect(await basisOf('{"__proto__": {"likes": "western"}}')).toBe(await basisOf("{}"));
    const events = '"add": [{"itemId": "__proto__", "weight": 2}], "remove": ["__proto__", "i0"]';
    const { status, body } = await tried(`"userId": "__proto__", ${events}`);
    expect(status).toBe(200);
    expect(body.own).toEqual([{ itemId: "__proto__", weight: 2, attributes: {}, isAdded: true }]);
    expect(await tried('"__proto__": {"limit": 1}')).toMatchObject({
      status: 400,
      text: expect.stringContaining("__proto__"),
    });
  });

  test("a number of reasons other than one to three is rejected, with the valid range", async () => {
    await expect(ask("u1", "4")).rejects.toMatchObject({
      status: 400,
      error: {
        details: [
          { path: explainHeader, message: "expected 1, 2 or 3: the maximum number of reasons per item" },
        ],
      },
    });
  });
});
