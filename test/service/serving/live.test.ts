import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServedModel } from "../../../service/serving/served-model";
import { Pool } from "../../../service/threads/pool";
import { Running } from "../running";
import { closeShop, deploy, openShop, shopRecords, trainModel } from "../shop";

/** Shop with a user and an item that have attributes but no events. */
const records = (() => {
  const { users, items, events } = shopRecords();
  return {
    users: [...users, { userId: "quiet", attributes: { likes: "drama", age: 30 } }],
    items: [...items, { itemId: "unsold", attributes: { genre: ["drama"], title: "Unsold" } }],
    events,
  };
})();

describe("a deployment", () => {
  let dataDir: string;
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  let modelId: string;
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "live-"));
    api = await Running.start({ dataDir });
  });
  beforeEach(async () => {
    shop = await openShop(api, records);
    modelId = await trainModel(api, shop);
    await redeploy();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await closeShop(api, shop);
  });
  afterAll(async () => {
    await api.end();
    rmSync(dataDir, { recursive: true });
  });

  const redeploy = (more = {}) => deploy(api, shop.projectId, modelId, { qps: 100_000, ...more });
  const idsFor = async (userId: string, limit = 1000) => {
    const base = `${api.service.url}/serving/${shop.projectId}`;
    const { results } = await api.call("recommendItemsToUser", { userId, limit }, { base });
    return results.map(({ item }) => item.itemId);
  };
  const buy = (eventId: string, userId: string, itemId: string, eventValue = 1) =>
    api.call("upsertDatasetEvents", {
      eventDatasetId: shop.eventDatasetId,
      events: [{ eventId, userId, itemId, ts: 1, eventType: "purchase", eventValue }],
    });
  const forget = (userId: string) =>
    api.call("deleteDatasetUserEvents", { eventDatasetId: shop.eventDatasetId, userId });
  const setItem = (itemId: string, genre: string) =>
    api.call("upsertDatasetItems", {
      itemDatasetId: shop.itemDatasetId,
      items: [{ itemId, attributes: { genre: [genre], title: itemId } }],
    });
  const genreOf = (itemId: string) =>
    records.items.find((item) => item.itemId === itemId)?.attributes.genre[0];
  /** Runs a function before the first job of a kind is passed to its thread. Other processes may load its deployment. */
  const ahead = (kind: string, work: () => Promise<unknown>) => {
    const { run } = Pool.prototype;
    let done: Promise<unknown> | undefined;
    jest.spyOn(Pool.prototype, "run").mockImplementation(async function (this: Pool, task) {
      if (task.kind === kind) {
        done ??= work();
        await done;
      }
      return (await run.call(this, task)) as never;
    });
  };

  test("does not restore events that were added and deleted during its preparation", async () => {
    ahead("DEPLOYMENT", async () => {
      await buy("kept", "u2", "i3");
      await buy("moved", "u1", "i1");
      await buy("moved", "u1", "i2");
      await buy("short-lived", "ghost", "i0");
      await buy("short-lived", "ghost", "i4");
      await forget("ghost");
    });
    await redeploy();
    expect(await idsFor("ghost")).toEqual(expect.arrayContaining(["i0", "i4"]));
    expect(await idsFor("u2")).not.toContain("i3");
    const live = await Promise.all(["ghost", "u1", "u2"].map((user) => idsFor(user)));
    jest.restoreAllMocks();
    await redeploy();
    expect(await Promise.all(["ghost", "u1", "u2"].map((user) => idsFor(user)))).toEqual(live);
  });

  test("of a project without its event dataset ignores events of other datasets", async () => {
    const [{ dataset }] = (await api.ask("select max(dataset) as dataset from shards")) as [
      { dataset: number },
    ];
    await api.call("deleteEventDataset", { eventDatasetId: shop.eventDatasetId });
    const left = () => api.ask(`select * from shards where dataset = ${dataset}`);
    while ((await left()).length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const expected = await idsFor("u1");
    const other = await api.call("createEventDataset", { name: "other", numShards: 1 });
    const events = expected
      .slice(0, 5)
      .map((itemId) => ({ eventId: itemId, userId: "u1", itemId, ts: 1, eventType: "purchase" }));
    await api.call("upsertDatasetEvents", { eventDatasetId: other.eventDatasetId, events });
    expect(await idsFor("u1")).toEqual(expected);
  });

  test("uses attributes that are added after the training for a user without events", async () => {
    const liked = async () => (await idsFor("quiet", 5)).map(genreOf);
    expect((await liked()).filter((genre) => genre === "drama").length).toBeGreaterThanOrEqual(4);
    const users = [{ userId: "quiet", attributes: { likes: "western", age: 30 } }];
    await api.call("upsertDatasetUsers", { userDatasetId: shop.userDatasetId, users });
    expect((await liked()).filter((genre) => genre === "western").length).toBeGreaterThanOrEqual(4);
    const live = await idsFor("quiet");
    await redeploy();
    expect(await idsFor("quiet")).toEqual(live);
  });

  test("uses attributes that are added after the training for an item without events", async () => {
    const place = async (userId: string) => (await idsFor(userId)).indexOf("unsold");
    expect(await place("u0")).toBeLessThan(await place("u3"));
    await setItem("unsold", "western");
    expect(await place("u3")).toBeLessThan(await place("u0"));
    const live = await Promise.all(["u0", "u3", "stranger"].map((user) => idsFor(user)));
    await redeploy();
    expect(await Promise.all(["u0", "u3", "stranger"].map((user) => idsFor(user)))).toEqual(live);
    // The new vector also affects the users who buy the item.
    await buy("first", "newcomer", "unsold");
    await setItem("unsold", "comedy");
    expect((await idsFor("newcomer", 5)).map(genreOf)).toContain("comedy");
  });

  test("gives a user the same recommendations as a new deployment, after any changes", async () => {
    const again = async () => {
      const live = await idsFor("u0", 100);
      expect(await idsFor("u0", 100)).toEqual(live);
      expect(await idsFor("u0", 5)).toEqual(live.slice(0, 5));
      await redeploy();
      expect(await idsFor("u0", 100)).toEqual(live);
      return live;
    };
    const [best = ""] = await again();
    await buy("another", "u0", best);
    const before = await again();
    expect(before).not.toContain(best);
    await setItem("unsold", "western");
    expect((await again()).indexOf("unsold")).toBeGreaterThan(before.indexOf("unsold"));
    expect(before).not.toContain("new");
    await setItem("new", "drama");
    expect(await again()).toContain("new");
    await forget("u4");
    await again();
  });

  test("does not cache recommendations if an event or an item is added while they are computed", async () => {
    const { finishForgetting } = ServedModel.prototype;
    /** Runs a function while a recommendation is computed, after the events were read. A forgotten user makes it wait. */
    const whileAnswering = async (userId: string, forgotten: string, work: () => Promise<unknown>) => {
      let next: (() => Promise<unknown>) | undefined = work;
      jest.spyOn(ServedModel.prototype, "finishForgetting").mockImplementation(async function (
        this: ServedModel,
      ) {
        const ids = await finishForgetting.call(this);
        const now = next;
        next = undefined;
        await now?.();
        return ids;
      });
      await forget(forgotten);
      while (next) await idsFor(userId, 100);
    };
    const [best = ""] = await idsFor("u0", 100);
    await whileAnswering("u0", "u4", () => buy("meanwhile", "u0", best));
    expect(await idsFor("u0", 100)).not.toContain(best);

    await buy("early", "u0", "late");
    await whileAnswering("u0", "u5", async () => {
      await setItem("late", "drama");
      expect(await idsFor("u1", 100)).toContain("late");
    });
    expect(await idsFor("u0", 100)).not.toContain("late");
  });

  test("counts negative values like a new deployment", async () => {
    await buy("returned", "newcomer", "i0", -5);
    await buy("returned too", "u0", "i1", -0.3);
    await redeploy();
    await buy("bought", "newcomer", "i0", 3);
    for (const at of [1, 2, 3]) await buy(`bought ${at}`, "u0", "i1", 0.1);
    const live = await Promise.all(["newcomer", "u0"].map((user) => idsFor(user)));
    expect(live[0]).toEqual((await idsFor("stranger")).filter((id) => id !== "i0"));
    await redeploy();
    expect(await Promise.all(["newcomer", "u0"].map((user) => idsFor(user)))).toEqual(live);
    await buy("bought more", "newcomer", "i0", 3);
    expect((await idsFor("newcomer", 5)).map(genreOf)).toEqual(expect.arrayContaining(["drama"]));
  });

  test("keeps the learned generator and ranker when the event dataset is deleted, also after a restart", async () => {
    const algorithmParameters = { dimensions: 4, regularization: 0.3, alpha: 2, epochs: 2 };
    const { projectId, eventDatasetId } = shop;
    const { algorithmId } = await api.call("createAlgorithm", { projectId, name: "r", algorithmParameters });
    const rankerModelId = await trainModel(api, { projectId, algorithmId }, "ranker");
    await redeploy({ rankerModelId });
    const users = ["u0", "u1", "u2", "u3"];
    const expected = await Promise.all(users.map((user) => idsFor(user)));
    const check = async () => {
      for (const [at, user] of users.entries()) {
        const had = new Set(records.events.filter((event) => event.userId === user).map((e) => e.itemId));
        expect((await idsFor(user)).filter((id) => !had.has(id))).toEqual(expected[at]);
      }
    };
    await api.call("deleteEventDataset", { eventDatasetId });
    await check();
    await api.end();
    api = await Running.start({ dataDir });
    await check();
  });

  test("allocates memory for many new items at once", async () => {
    // Each layout of the vectors uses a separate memory.
    const { Memory } = WebAssembly;
    let memories = 0;
    WebAssembly.Memory = class extends Memory {
      constructor(size: { initial: number }) {
        super(size);
        memories++;
      }
    };
    for (let at = 10; at < 50; at++) {
      await setItem(`new-${at}`, "comedy");
      expect(await idsFor("u1")).toContain(`new-${at}`);
    }
    WebAssembly.Memory = Memory;
    expect(memories).toBeLessThan(3);
    const live = await idsFor("u1");
    await redeploy();
    expect(await idsFor("u1")).toEqual(live);
    for (const begin of ["a", "b", "c"])
      await api.call("upsertDatasetItems", {
        itemDatasetId: shop.itemDatasetId,
        items: Array.from({ length: 900 }, (_, at) => ({ itemId: `${begin}${at}`, attributes: {} })),
      });
    await setItem("the-last", "comedy");
    expect(await idsFor("u1")).toContain("the-last");
  });

  test("succeeds despite a huge value that was stored before there was a limit", async () => {
    await api.end();
    await api.ask("update events set event_value = 1e39 where event_id = 'e0'");
    await api.ask("update events set event_value = 1.7e308 where event_id in ('e1', 'e41')");
    api = await Running.start({ dataDir });
    modelId = await trainModel(api, shop);
    await redeploy();
    for (const { userId } of records.users) expect(await idsFor(userId, 5)).toHaveLength(5);
  });

  test("only events with a value beyond the limit fail, and the reason names the limit", async () => {
    const event = { userId: "u0", itemId: "i0", ts: 1, eventType: "purchase" };
    const { succeedIds, failures } = await api.call("upsertDatasetEvents", {
      eventDatasetId: shop.eventDatasetId,
      events: [1e39, 1e12, -2e12].map((eventValue) => ({ ...event, eventId: `v${eventValue}`, eventValue })),
    });
    expect(succeedIds).toEqual(["v1000000000000"]);
    expect(failures?.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/event_value.*1000000000000|event_value.*1,000,000,000,000/),
      expect.stringMatching(/event_value.*1000000000000|event_value.*1,000,000,000,000/),
    ]);
  });

  test("a training fails immediately with the reason if its event dataset is deleted before it is read", async () => {
    const { projectId, algorithmId, eventDatasetId } = shop;
    ahead("TRAINING", () => api.call("deleteEventDataset", { eventDatasetId }));
    const { jobId } = await api.call("submitTrainingJob", { projectId, algorithmId, name: "late" });
    expect(await api.finished(projectId, jobId)).toMatchObject({
      jobStatus: "FAILED",
      retryCount: 0,
      jobResult: { message: expect.stringContaining(`${eventDatasetId} was deleted`) },
    });
  });
});

declare const WebAssembly: { Memory: new (size: { initial: number }) => object };
