import { limits } from "../../../contract";
import { testOfOneApi } from "../database";
import { Running } from "../running";

const event = (at: number, more: object = {}) => ({
  eventId: `e${at}`,
  userId: `u${at % 3}`,
  itemId: `i${at % 5}`,
  ts: 1000 + at,
  eventType: "view",
  ...more,
});

describe("events", () => {
  let api: Running;
  let eventDatasetId: string;
  beforeAll(async () => {
    api = await Running.start();
  });
  beforeEach(async () => {
    ({ eventDatasetId } = await api.call("createEventDataset", { name: "events", numShards: 2 }));
  });
  afterAll(() => api.end());

  async function held(): Promise<number> {
    const { body } = await api.raw("/status", { headers: { apikey: api.service.key } });
    return body.datasets.find(({ id }: { id: string }) => id === eventDatasetId).records;
  }

  test("new events, known events and both together are counted correctly", async () => {
    const batch = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => event(from + at));
    await api.call("upsertDatasetEvents", { eventDatasetId, events: batch(0, 250) });
    expect(await held()).toBe(250);
    const reply = await api.call("upsertDatasetEvents", { eventDatasetId, events: batch(200, 400) });
    expect(reply.succeedIds).toHaveLength(200);
    expect(await held()).toBe(400);
    await api.call("upsertDatasetEvents", { eventDatasetId, events: batch(0, 400) });
    expect(await held()).toBe(400);
  });

  test("only events over 20 kB fail; an event of exactly 20 kB succeeds", async () => {
    const sized = (bytes: number, id: string) => {
      const wire = {
        event_id: id,
        user_id: "u",
        item_id: "i",
        ts: 1,
        event_type: "view",
        event_value: 1,
        attributes: { pad: "" },
      };
      const pad = "x".repeat(bytes - Buffer.byteLength(JSON.stringify(wire)));
      return {
        eventId: id,
        userId: "u",
        itemId: "i",
        ts: 1,
        eventType: "view",
        eventValue: 1,
        attributes: { pad },
      };
    };
    const events = [sized(limits.eventBytes, "fits"), sized(limits.eventBytes + 1, "large"), event(1)];
    const reply = await api.call("upsertDatasetEvents", { eventDatasetId, events });
    expect(reply.succeedIds).toEqual(["fits", "e1"]);
    expect(reply.failures).toEqual([
      { id: "large", index: 1, reason: expect.stringContaining("20481 bytes") },
    ]);
  });

  test("all events of a user are deleted, and no other events", async () => {
    await api.call("upsertDatasetEvents", {
      eventDatasetId,
      events: Array.from({ length: 300 }, (_, at) => event(at)),
    });
    expect(await api.call("deleteDatasetUserEvents", { eventDatasetId, userId: "u1" })).toEqual({
      eventDatasetId,
      userId: "u1",
    });
    expect(await held()).toBe(200);
    await api.call("deleteDatasetUserEvents", { eventDatasetId, userId: "u1" });
    expect(await held()).toBe(200);
  });

  test("events before ts are deleted from start_ts on", async () => {
    await api.call("upsertDatasetEvents", {
      eventDatasetId,
      events: Array.from({ length: 100 }, (_, at) => event(at)),
    });
    const deletion = { eventDatasetId, ts: 1050, startTs: 1020 };
    expect(await api.call("deleteDatasetEventsBeforeTs", deletion)).toEqual({ eventDatasetId, ts: 1050 });
    expect(await held()).toBe(70);
    await api.call("deleteDatasetEventsBeforeTs", { eventDatasetId, ts: 1050 });
    expect(await held()).toBe(50);
  });

  test("a large deletion runs in steps and deletes all events", async () => {
    for (let from = 0; from < 5000; from += 1000) {
      const events = Array.from({ length: 1000 }, (_, at) => event(from + at));
      await api.call("upsertDatasetEvents", { eventDatasetId, events });
    }
    await api.call("deleteDatasetEventsBeforeTs", { eventDatasetId, ts: 1000 + 4500 });
    expect(await held()).toBe(500);
  });

  test("deleting a dataset deletes its events, and its number is not used again", async () => {
    await api.call("upsertDatasetEvents", { eventDatasetId, events: [event(1)] });
    await api.call("deleteEventDataset", { eventDatasetId });
    await expect(
      api.call("upsertDatasetEvents", { eventDatasetId, events: [event(2)] }),
    ).rejects.toMatchObject({ status: 404 });
    ({ eventDatasetId } = await api.call("createEventDataset", { name: "next", numShards: 1 }));
    expect(await held()).toBe(0);
    const reply = await api.call("upsertDatasetEvents", { eventDatasetId, events: [event(1)] });
    expect(reply.succeedIds).toEqual(["e1"]);
    expect(await held()).toBe(1);
  });
});

describe("the capacity of a dataset", () => {
  // The limit is changed only in this process.
  testOfOneApi("is num_shards times the records of a shard, kept exactly", async () => {
    const spied = limits as { recordsPerShard: number };
    const before = spied.recordsPerShard;
    spied.recordsPerShard = 10;
    const api = await Running.start();
    try {
      const { eventDatasetId } = await api.call("createEventDataset", { name: "small", numShards: 1 });
      const upsert = async (...ids: number[]) => {
        const reply = await api.call("upsertDatasetEvents", {
          eventDatasetId,
          events: ids.map((id) => event(id)),
        });
        return [reply.succeedIds.length, reply.failedIds] as const;
      };
      expect(await upsert(0, 1, 2, 3, 4, 5, 6, 7)).toEqual([8, []]);
      expect(await upsert(7, 8, 9, 10, 11)).toEqual([3, ["e10", "e11"]]);
      // Known events can be updated in a full dataset.
      expect(await upsert(0, 1, 2)).toEqual([3, []]);
      expect(await upsert(12)).toEqual([0, ["e12"]]);
      await api.call("deleteDatasetEventsBeforeTs", { eventDatasetId, ts: 1002 });
      expect(await upsert(12, 13, 14)).toEqual([2, ["e14"]]);

      const { userDatasetId } = await api.call("createUserDataset", { name: "small", numShards: 1 });
      const users = Array.from({ length: 12 }, (_, user) => ({ userId: `u${user}` }));
      const reply = await api.call("upsertDatasetUsers", { userDatasetId, users });
      expect(reply.failedIds).toEqual(["u10", "u11"]);
      expect(reply.failures?.[0]?.reason).toContain("full");
    } finally {
      spied.recordsPerShard = before;
      await api.end();
    }
  });
});
