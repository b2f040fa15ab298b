import { Running } from "../running";
import { deploy, openShop, shopRecords } from "../shop";
import { signIn } from "../visitor";

let api: Running;
beforeAll(async () => {
  api = await Running.start();
});
afterAll(() => api.end());

test("exposure settings change the list, and the console shows the same list with reasons that add up", async () => {
  const shop = await openShop(api, shopRecords({ users: 80, items: 80, perUser: 12 }));
  const { projectId } = shop;
  const headers = { ...(await signIn(api)), origin: api.service.url, "content-type": "application/json" };
  const people = [...Array.from({ length: 10 }, (_, user) => `u${user}`), "stranger"];
  const answersOf = async (choices: object) => {
    const fixed = { dimensions: 8, regularization: 0.05, alpha: 0.3, epochs: 8, neighbours: 0.5 };
    const algorithmParameters = { ...fixed, ...choices };
    const { algorithmId } = await api.call("createAlgorithm", { projectId, name: "g1", algorithmParameters });
    const { jobId } = await api.call("submitTrainingJob", { projectId, algorithmId, name: "weekly" });
    const { jobData, jobResult } = await api.finished(projectId, jobId);
    await deploy(api, projectId, jobResult?.modelId as string, { qps: 100_000 });
    const lists = await Promise.all(
      people.map(async (userId) => {
        const { results } = await api.call("recommendItemsToUser", { userId, limit: 20 });
        return results.map(({ item }) => item.itemId);
      }),
    );
    for (const [at, userId] of people.entries()) {
      const body = JSON.stringify({ projectId, userId, limit: 20 });
      const { items } = (await api.raw("/console/api/try", { method: "POST", headers, body })).body;
      expect(items.map(({ itemId }: { itemId: string }) => itemId)).toEqual(lists[at]);
      for (const { score, reasons, rest } of userId === "stranger" ? [] : items) {
        // The vector of the training is not exact to the last digit.
        expect(Math.abs(rest)).toBeLessThan(0.01 + 0.02 * Math.abs(score));
        expect(reasons.length).toBeGreaterThan(0);
      }
    }
    return { lists, quality: jobData?.quality, chosen: jobData?.chosenParameters };
  };
  const plain = await answersOf({});
  expect(plain.chosen).not.toHaveProperty("diversity");
  expect(plain.chosen).not.toHaveProperty("popularity_penalty");
  const none = await answersOf({ diversity: 0, popularity_penalty: 0 });
  expect(none).toEqual(plain);

  const diverse = await answersOf({ diversity: 0.7 });
  expect(diverse.chosen).toMatchObject({ diversity: 0.7, popularity_penalty: 0 });
  expect(diverse.quality?.diversityAt20).toBeGreaterThan(plain.quality?.diversityAt20 as number);
  expect(diverse.lists).not.toEqual(plain.lists);

  const penalized = await answersOf({ popularity_penalty: 0.7 });
  expect(penalized.chosen).toMatchObject({ diversity: 0, popularity_penalty: 0.7 });
  expect(penalized.quality?.shownPopularityAt20).toBeLessThan(plain.quality?.shownPopularityAt20 as number);
  expect(penalized.quality?.chosenPopularity).toBe(plain.quality?.chosenPopularity);
  // An unknown user gets popular items.
  expect(penalized.lists.at(-1)).toEqual(plain.lists.at(-1));

  for (const given of [{ diversity: 1.5 }, { popularity_penalty: -0.1 }, { diversity: "much" }]) {
    const refused = api.call("createAlgorithm", { projectId, name: "g1", algorithmParameters: given });
    await expect(refused).rejects.toMatchObject({
      error: { details: [{ path: `algorithm_parameters.${Object.keys(given)[0]}` }] },
    });
  }
});
