import { Running } from "../running";
import { deploy, openShop, shopRecords, trainModel } from "../shop";

describe("events of other types", () => {
  const records = shopRecords();
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  beforeAll(async () => {
    api = await Running.start();
    shop = await openShop(api, records);
  });
  afterAll(() => api.end());

  const view = (userId: string, ...itemIds: string[]) =>
    api.call("upsertDatasetEvents", {
      eventDatasetId: shop.eventDatasetId,
      events: itemIds.map((itemId) => ({
        ...{ eventId: `${userId}-${itemId}`, userId, itemId, ts: 1_700_000_000_000, eventType: "view" },
      })),
    });
  const trained = async (algorithmParameters: object) => {
    const { projectId } = shop;
    const given = { ...algorithmParameters };
    const { algorithmId } = await api.call("createAlgorithm", {
      projectId,
      name: "g1",
      algorithmParameters: given,
    });
    const { jobId } = await api.call("submitTrainingJob", { projectId, algorithmId, name: "weekly" });
    const { jobData, jobResult } = await api.finished(projectId, jobId);
    return { chosen: jobData?.chosenParameters, modelId: jobResult?.modelId as string };
  };
  const idsFor = async (userId: string, limit = 10) =>
    (await api.call("recommendItemsToUser", { userId, limit })).results.map(({ item }) => item.itemId);
  const popular = () => idsFor("nobody");
  const fixed = { dimensions: 8, regularization: 0.05, alpha: 0.3, epochs: 8 };
  const ofGenre = (rest: number) =>
    records.items.filter((_, at) => at % 4 === rest).map(({ itemId }) => itemId);

  test("a model of a project with one event type reports no other types", async () => {
    const modelId = await trainModel(api, shop);
    const { chosen } = await trained(fixed);
    expect(chosen).not.toHaveProperty("event_weights");
    await deploy(api, shop.projectId, modelId, { qps: 100_000 });
    await view("viewer", ...ofGenre(0).slice(0, 5));
    // The live model was trained only on purchases.
    expect(await idsFor("viewer")).toEqual(await popular());
  });

  test("a user with only views is not a cold start, and views count immediately", async () => {
    const weights = { event_weights: { view: 0.3 }, recommend_seen: false };
    const { chosen, modelId } = await trained({ ...fixed, ...weights });
    expect(chosen).toMatchObject(weights);
    await deploy(api, shop.projectId, modelId, { qps: 100_000 });
    const before = await idsFor("viewer", 5);
    expect(before.filter((id) => ofGenre(0).includes(id))).toHaveLength(5);
    expect(before.filter((id) => ofGenre(0).slice(0, 5).includes(id))).toEqual([]);
    expect(await idsFor("newcomer")).toEqual(await popular());
    await view("newcomer", ...ofGenre(2).slice(0, 5));
    const after = await idsFor("newcomer", 5);
    expect(after.filter((id) => ofGenre(2).includes(id))).toHaveLength(5);
  });

  test("items that a user has only viewed are recommended if the model allows it", async () => {
    const { modelId } = await trained({ ...fixed, event_weights: { view: 0.3 }, recommend_seen: true });
    await deploy(api, shop.projectId, modelId, { qps: 100_000 });
    expect(await idsFor("viewer", 60)).toEqual(expect.arrayContaining(ofGenre(0).slice(0, 5)));
  });

  test("the reasons of a recommendation include viewed items", async () => {
    const headers = { "recommender-explain": "3" };
    const { results } = await api.call("recommendItemsToUser", { userId: "viewer", limit: 1 }, { headers });
    expect(ofGenre(0)).toContain(results[0]?.why?.items[0]?.itemId);
  });

  test("event weights are found if they improve held-out target events, and are 0 otherwise", async () => {
    const searched = { effort: "quick" };
    const own = records.users.flatMap(({ userId }, user) =>
      ofGenre(user % 4).map((itemId, at) => ({
        ...{
          eventId: `more-${userId}-${at}`,
          userId,
          itemId,
          ts: 1_700_000_000_000 - at,
          eventType: "click",
        },
      })),
    );
    for (let from = 0; from < own.length; from += 500)
      await api.call("upsertDatasetEvents", {
        eventDatasetId: shop.eventDatasetId,
        events: own.slice(from, from + 500),
      });
    const { chosen } = await trained(searched);
    expect(chosen).toMatchObject({ event_weights: { click: expect.any(Number) } });
    expect((await trained({ ...searched, event_weights: {} })).chosen).not.toHaveProperty("event_weights");
  });
});
