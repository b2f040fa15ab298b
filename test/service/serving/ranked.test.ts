import { createRandom } from "../../../service/algorithms";
import { Running } from "../running";
import { deploy, openShop, trainModel } from "../shop";
import { signIn } from "../visitor";

const [users, items, steps] = [120, 200, 30];

/** Users choose the items of a ring in order, each from a different start, so the last item predicts the next one. */
function walks() {
  const random = createRandom(3);
  return {
    users: [],
    items: [],
    events: Array.from({ length: users }, (_, user) => {
      const begin = random.below(items);
      return Array.from({ length: steps }, (_, step) => ({
        eventId: `e${user}-${step}`,
        userId: `u${user}`,
        itemId: `i${(begin + step) % items}`,
        ts: 1_700_000_000_000 + user * 1_000_000 + step * 1000,
        eventType: "purchase",
        eventValue: 1,
      }));
    }).flat(),
  };
}

test("a trained ranker changes the order of recommendations, and the console shows the same order with reasons", async () => {
  const api = await Running.start();
  const shop = await openShop(api, walks());
  const { projectId } = shop;
  const { algorithmId } = await api.call("createAlgorithm", {
    projectId,
    name: "walks",
    algorithmParameters: {
      dimensions: 8,
      epochs: 4,
      alpha: 0.3,
      regularization: 0.05,
      neighbours: 0,
      order: 0,
    },
  });
  const generator = await trainModel(api, { projectId, algorithmId });
  const ranker = await trainModel(api, { projectId, algorithmId }, "ranker");
  const headers = {
    ...(await signIn(api)),
    origin: api.service.url,
    "content-type": "application/json",
  };
  const tried = async (userId: string) => {
    const body = JSON.stringify({ projectId, userId, limit: 20 });
    return (await api.raw("/console/api/try", { method: "POST", headers, body })).body;
  };
  const idsFor = async (userId: string) =>
    (await api.call("recommendItemsToUser", { userId, limit: 20 })).results.map(({ item }) => item.itemId);
  const known = Array.from({ length: 10 }, (_, user) => `u${user}`);

  await deploy(api, projectId, generator);
  const alone = await Promise.all(known.map(idsFor));
  expect(await tried("u0")).toMatchObject({ modelId: generator, rankedBy: null });

  await deploy(api, projectId, generator, { rankerModelId: ranker });
  const ranked = await Promise.all(known.map(idsFor));
  expect(ranked.filter((ids, at) => ids.join() !== alone[at]?.join()).length).toBeGreaterThan(5);
  for (const [at, userId] of known.entries()) {
    const answer = await tried(userId);
    expect(answer.items.map(({ itemId }: { itemId: string }) => itemId)).toEqual(ranked[at]);
    expect(answer).toMatchObject({ modelId: generator, rankedBy: ranker });
    for (const { score, reasons, rest } of answer.items)
      expect(reasons.reduce((sum: number, { adds }: { adds: number }) => sum + adds, rest)).toBeCloseTo(
        score,
      );
  }
  // For a user without events the ranker has no features, so the order of the generator stays.
  const stranger = await tried("stranger");
  expect(stranger.items.map(({ itemId }: { itemId: string }) => itemId)).toEqual(await idsFor("stranger"));
  expect(stranger.rankedBy).toBeNull();

  const featured = Array.from({ length: 20 }, (_, at) => ({
    itemId: `i${at * 10}`,
    attributes: { featured: true },
  }));
  await api.call("upsertDatasetItems", { itemDatasetId: shop.itemDatasetId, items: featured });
  const boost = [{ when: "item.featured", factor: 1000 }];
  await deploy(api, projectId, generator, { rankerModelId: ranker, rules: { boost } });
  const boosted = await Promise.all(known.map(idsFor));
  const countIn = (lists: string[][]) =>
    lists.flat().filter((id) => featured.some(({ itemId }) => itemId === id)).length;
  expect(countIn(boosted)).toBeGreaterThan(2 * countIn(ranked));
  const { items } = await tried("u0");
  expect(items.map(({ itemId }: { itemId: string }) => itemId)).toEqual(boosted[0]);
  const applied = items.flatMap((item: { rules: object[] }) => item.rules);
  expect(applied).toContainEqual({ effect: "boosted", factor: 1000 });

  const beside = async (userIds: readonly string[]) => {
    const query = new URLSearchParams({ models: `${generator},${ranker}`, users: JSON.stringify(userIds) });
    return await api.raw(`/console/api/compare?${query}`, { headers });
  };
  const both = await beside(["u0", "stranger"]);
  expect(both.body.models).toHaveLength(2);
  expect(both.body.models[0].map(({ isKnown }: { isKnown: boolean }) => isKnown)).toEqual([true, false]);
  expect(both.body.models[0][0].itemIds).toEqual(alone[0]?.slice(0, 10));
  expect(await beside([])).toMatchObject({ status: 200, body: { models: [[], []], labels: {} } });
  await api.end();
});
