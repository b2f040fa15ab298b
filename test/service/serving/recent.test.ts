import { explainHeader } from "../../../contract";
import { chainItems, createChain } from "../algorithms/chain";
import { Running } from "../running";
import { deploy, openShop, trainModel } from "../shop";

const now = 1_700_000_000_000;
const hour = 3_600_000;

/** A shop whose customers mostly buy the item after the one that they bought last. */
function chainRecords() {
  const { users, start, index, time = new Float64Array(0) } = createChain();
  const events = Array.from({ length: users }, (_, user) =>
    Array.from(index.subarray(start[user], start[user + 1]), (item, at) => ({
      eventId: `e${user}-${item}`,
      userId: `u${user}`,
      itemId: `i${item}`,
      ts: now + Math.round(time[(start[user] as number) + at] as number),
      eventType: "purchase",
      eventValue: 1,
    })),
  ).flat();
  return {
    users: Array.from({ length: users }, (_, user) => ({
      userId: `u${user}`,
      attributes: { likes: "all", age: 30 },
    })),
    items: Array.from({ length: chainItems }, (_, item) => ({
      itemId: `i${item}`,
      attributes: { genre: ["one"], title: `Part ${item}` },
    })),
    events,
  };
}

describe("a deployment of a model that uses the order of events", () => {
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  let modelId: string;
  beforeAll(async () => {
    api = await Running.start();
    shop = await openShop(api, chainRecords());
    modelId = await trainModel(api, shop);
    await deploy(api, shop.projectId, modelId, { qps: 100_000 });
  });
  afterAll(() => api.end());

  const ask = (userId: string, limit = 3) =>
    api.call("recommendItemsToUser", { userId, limit }, { headers: { [explainHeader]: "2" } });
  const first = async (userId: string) => (await ask(userId)).results[0]?.item.itemId;
  const buy = (eventId: string, userId: string, item: number, ts: number) =>
    api.call("upsertDatasetEvents", {
      eventDatasetId: shop.eventDatasetId,
      events: [{ eventId, userId, itemId: `i${item}`, ts: now + ts, eventType: "purchase" }],
    });

  test("recommends what follows the last purchase, and each purchase changes it", async () => {
    await buy("v1", "visitor", 10, 0);
    expect(await first("visitor")).toBe("i11");
    await buy("v2", "visitor", 40, hour);
    expect(await first("visitor")).toBe("i41");
  });

  test("goes by the time of the events, not by the order of the uploads", async () => {
    await buy("w1", "late", 40, hour);
    await buy("w2", "late", 10, 0);
    expect(await first("late")).toBe("i41");
    await buy("w2", "late", 10, 2 * hour);
    expect(await first("late")).toBe("i11");
  });

  test("names the last purchase as the main reason", async () => {
    await buy("x1", "curious", 5, 0);
    await buy("x2", "curious", 30, hour);
    const [result] = (await ask("curious")).results;
    expect(result?.item.itemId).toBe("i31");
    expect(result?.why?.items[0]?.itemId).toBe("i30");
    const { items = [], rest = 0, score = 0 } = result?.why ?? {};
    expect(items.reduce((sum, { adds }) => sum + adds, rest)).toBeCloseTo(score as number, 4);
  });

  test("gives the same answers after it is loaded again and after a user is forgotten", async () => {
    await buy("y1", "gone", 20, 0);
    const users = ["u1", "u2", "u3"];
    const lists = () =>
      Promise.all(users.map(async (user) => (await ask(user, 5)).results.map(({ item }) => item.itemId)));
    await api.call("deleteDatasetUserEvents", { eventDatasetId: shop.eventDatasetId, userId: "u9" });
    const before = await lists();
    await deploy(api, shop.projectId, modelId, { qps: 100_000 });
    expect(await lists()).toEqual(before);
  });
});
