import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Running } from "../running";
import { deploy, openShop, shopRecords, trainModel } from "../shop";

describe("the memory of a deployment", () => {
  test("includes writes during its preparation, after it, and after a restart", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "memory-"));
    const records = shopRecords();
    let api = await Running.start({ dataDir });
    const shop = await openShop(api, records);
    const { eventDatasetId, projectId } = shop;
    const model = await trainModel(api, shop);
    const held = new Map(records.events.map((event) => [event.eventId, event]));
    let seed = 5;
    const below = (bound: number) => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return Math.floor((seed / 4294967296) * bound);
    };
    const write = async () => {
      const kind = below(4);
      if (kind === 0) {
        const userId = `u${below(40)}`;
        await api.call("deleteDatasetUserEvents", { eventDatasetId, userId });
        for (const event of [...held.values()]) if (event.userId === userId) held.delete(event.eventId);
        return;
      }
      const events = Array.from({ length: 5 }, () => ({
        eventId: `e${below(600)}`,
        userId: `u${below(40)}`,
        itemId: `i${below(60)}`,
        ts: 1,
        eventType: below(4) === 0 ? "view" : "purchase",
        eventValue: 1,
      }));
      await api.call("upsertDatasetEvents", { eventDatasetId, events });
      for (const event of events) held.set(event.eventId, event);
    };
    const check = async () => {
      for (let user = 0; user < 40; user++) {
        const bought = [...held.values()].filter(
          (event) => event.userId === `u${user}` && event.eventType === "purchase",
        );
        const { results } = await api.call("recommendItemsToUser", { userId: `u${user}`, limit: 1000 });
        const expected = records.items
          .map(({ itemId }) => itemId)
          .filter((id) => !bought.some(({ itemId }) => itemId === id));
        expect(results.map(({ item }) => item.itemId).sort()).toEqual(expected.sort());
      }
    };
    for (let round = 0; round < 6; round++) {
      const deployed = deploy(api, projectId, model, { qps: 100_000 });
      for (let at = 0; at < 12; at++) await write();
      await deployed;
      for (let at = 0; at < 3; at++) await write();
      await check();
    }
    await api.end();
    api = await Running.start({ dataDir });
    const first = api.call("recommendItemsToUser", { userId: "u1" });
    for (let at = 0; at < 5; at++) await write();
    await first;
    await check();
    await api.end();
    rmSync(dataDir, { recursive: true });
  });
});
