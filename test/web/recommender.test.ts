import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withClients } from "../../service";
import {
  forPages,
  type KeptIn,
  Recommender,
  RecommenderError,
  type RecommenderOptions,
} from "../../web/index";
import { KeptLists } from "../../web/kept-lists";
import { ManualClock } from "../service/manual-clock";
import { Running } from "../service/running";
import { deploy, openShop, trainModel } from "../service/shop";

const path = "/recommend-items-to-user";
/** Long enough for a busy machine. */
const patient = { timeoutMs: 600_000 };
/** A call that the service does not answer falls back at once. */
const hasty = { ...forPages, timeoutMs: 20 };

describe("the client for web pages", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "recommender-web-"));
  const clock = new ManualClock();
  let api: Running;
  let url: string;
  let key: string;
  beforeAll(async () => {
    api = await Running.start({ dataDir, clock, faults: true });
    url = api.service.url;
    const shop = await openShop(api);
    await deploy(api, shop.projectId, await trainModel(api, shop));
    key = (await withClients({ dataDir }, (all) => all.add("shop", ["recommend"]))).secret;
  });
  afterEach(() => heal());
  afterAll(async () => {
    await api.end();
    rmSync(dataDir, { recursive: true });
  });

  const setFaults = (body: object) =>
    api.raw("/faults", {
      method: "PUT",
      headers: { apikey: api.service.key, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  /** The next calls get no answer until `heal`. */
  const hang = () => setFaults({ calls: [{ path: "*", times: 10_000, delay_ms: 3_600_000 }] });
  const heal = async () => {
    await setFaults({});
    // Ends the delays of calls that still wait.
    clock.advance(3_600_000);
    api.forgetTokens();
  };
  const client = (more: Partial<RecommenderOptions> = {}) =>
    new Recommender({ url, key, clientId: "shop", ...patient, ...more });
  /** Returns two clients that share what they keep: one that waits for answers, and one that does not. */
  const pair = () => {
    const storage = memory();
    const open = (more: object) => client({ ...forPages, storage, ...more });
    return { waiting: open(patient), falling: () => open(hasty) };
  };
  const ids = (items: readonly { itemId: string }[]) => items.map(({ itemId }) => itemId);

  test("returns what the service recommends, with all options", async () => {
    const input = {
      limit: 4,
      filter: '"drama" in item.genre',
      exclude: ["i0"],
      attributes: ["genre", "title"],
    };
    const events = [{ itemId: "i4" }, { itemId: "i8", eventType: "purchase", eventValue: 2 }];
    const { filter: filterQuery, exclude: excludeItemIds, ...same } = input;
    for (const userId of ["u1", null]) {
      const found = await client().recommend(userId, { ...input, events });
      const expected = await api.call("recommendItemsToUser", {
        ...same,
        ...(userId !== null && { userId }),
        filterQuery,
        excludeItemIds,
        events,
      });
      expect(found).toEqual({ source: "service", items: expected.results.map(({ item }) => item) });
      expect(found.items).toHaveLength(4);
    }
    const included = await client().recommend("u1", { include: ["i5", "i9"] });
    expect(new Set(["i5", "i9", ...ids(included.items)]).size).toBe(2);
    const similar = await client().similar(["i1"], { limit: 3, attributes: ["genre"] });
    const expected = await api.call("recommendItemsToItem", {
      itemIds: ["i1"],
      limit: 3,
      attributes: ["genre"],
    });
    expect(similar).toEqual({ source: "service", items: expected.results.map(({ item }) => item) });
  });

  test("throws the error of the service, with the reason and the request id, and does not repeat the call", async () => {
    const asked = client().recommend("u1", { filter: "item.gen == 1" });
    await expect(asked).rejects.toBeInstanceOf(RecommenderError);
    await expect(asked).rejects.toMatchObject({
      code: "BAD_REQUEST",
      message: expect.stringContaining("item.gen is unknown"),
      more: { status: 400, requestId: expect.any(String), details: [{ path: "filter_query" }] },
    });
    await expect(client({ key: `${key.slice(0, -2)}xx` }).recommend("u1")).rejects.toMatchObject({
      more: { status: 401 },
    });
    const closed = new Recommender({ url: "http://127.0.0.1:1", key: "rp_x", retries: 1 });
    await expect(closed.recommend("u1")).rejects.toMatchObject({ code: "UNREACHABLE" });
  });

  test("repeats a call if the service is overloaded, as often as it may", async () => {
    const overload = (times: number) => setFaults({ calls: [{ path, times, status: 503 }] });
    await overload(2);
    expect((await client({ retries: 2 }).recommend("u1")).source).toBe("service");
    await overload(2);
    await expect(client({ retries: 1 }).recommend("u1")).rejects.toMatchObject({ more: { status: 503 } });
    await overload(1);
    await expect(client({ retries: 0 }).recommend("u1")).rejects.toMatchObject({ more: { status: 503 } });
  });

  test("has a preset for pages with a short time limit, no retries and other lists", () => {
    expect(forPages).toEqual({ timeoutMs: 150, retries: 0, fallBack: true });
  });

  test("falls back to the last answer to the same question, without items that are excluded now", async () => {
    const { waiting, falling } = pair();
    const wanted = { limit: 6, filter: '"drama" in item.genre', attributes: ["title"] };
    const good = await waiting.recommend("u1", wanted);
    await hang();
    const [first, ...others] = good.items;
    const found = await falling().recommend("u1", { ...wanted, exclude: [first?.itemId ?? ""] });
    expect(found).toMatchObject({ source: "last", items: others, error: { code: "TIMEOUT" } });
    expect((await falling().recommend("u1", { ...wanted, limit: 2 })).items).toEqual(good.items.slice(0, 2));
    // The events of the visit have changed meanwhile, but it is still the same user.
    const later = await falling().recommend("u1", { ...wanted, events: [{ itemId: "i2" }] });
    expect(later.source).toBe("last");
    for (const other of [
      await falling().recommend("u2", wanted),
      await falling().recommend("u1", { ...wanted, filter: '"comedy" in item.genre' }),
      await falling().recommend(null, wanted),
    ])
      expect(other.source).not.toBe("last");
  });

  test("falls back to popular items that match the filter, then to those that the call names", async () => {
    const { waiting, falling } = pair();
    const wanted = { limit: 3, filter: '"comedy" in item.genre', attributes: ["genre"] };
    const popular = await waiting.prepare(wanted);
    await hang();
    const [first, second, third, fourth] = popular;
    const found = await falling().recommend("somebody", { ...wanted, exclude: [second?.itemId ?? ""] });
    expect(found).toMatchObject({ source: "popular", items: [first, third, fourth] });
    for (const { attributes } of found.items) expect(attributes.genre).toContain("comedy");
    const unfiltered = { ...wanted, filter: '"western" in item.genre' };
    const similar = await falling().similar([first?.itemId ?? ""], wanted);
    expect(similar.items).not.toContainEqual(first);
    const otherwise = await falling().recommend("somebody", { ...unfiltered, otherwise: ["i9", "i5"] });
    expect(otherwise).toMatchObject({ source: "otherwise", items: [{ itemId: "i9" }, { itemId: "i5" }] });
    expect(await falling().recommend("somebody", unfiltered)).toMatchObject({ source: "none", items: [] });
  });

  test("reads the popular items in the background of a call", async () => {
    const { waiting, falling } = pair();
    await waiting.recommend("u1");
    let found = await waiting.recommend("u1");
    await hang();
    // The other client may start before the list is stored.
    do found = await falling().recommend("nobody");
    while (found.source === "none");
    expect(found.source).toBe("popular");
  });

  test("never shows a visitor without an id the list of another visitor", async () => {
    const { waiting, falling } = pair();
    const one = { limit: 5, events: [{ itemId: "i0" }, { itemId: "i4" }] };
    const found = await waiting.recommend(null, one);
    await hang();
    expect(await falling().recommend(null, one)).toMatchObject({ source: "last", items: found.items });
    for (const events of [[], [{ itemId: "i1" }], [{ itemId: "i0" }]])
      expect((await falling().recommend(null, { limit: 5, events })).source).not.toBe("last");
  });

  test("keeps an answer that arrives too late for the next call", async () => {
    await hang();
    const late = client(hasty);
    expect((await late.recommend("u3")).source).toBe("none");
    await setFaults({});
    clock.advance(3_600_000);
    let found = await late.recommend("u3");
    while (found.source === "none") found = await late.recommend("u3");
    expect(["last", "service", "popular"]).toContain(found.source);
    await hang();
    while ((await late.recommend("u3")).source !== "last");
  });

  test("requests a token once for many calls, and again after the service has rejected it", async () => {
    const shop = client();
    const counted = async () => {
      const { text } = await api.raw("/metrics", { headers: { apikey: api.service.key } });
      const lines = text.split("\n").filter((line) => /_count\{.*operation="token"/.test(line));
      return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
    };
    const before = await counted();
    await Promise.all(Array.from({ length: 20 }, () => shop.recommend("u1")));
    await shop.recommend("u2");
    expect(await counted()).toBe(before + 1);
    // Tokens are valid for an hour by the clock of the service.
    clock.advance(2 * 3_600_000);
    await expect(shop.recommend("u1")).rejects.toMatchObject({ more: { status: 401 } });
    expect((await shop.recommend("u1")).source).toBe("service");
    expect(await counted()).toBe(before + 2);
  });

  test("refuses a secret in a page, and an address or key that is missing", () => {
    const page = globalThis as { document?: unknown };
    page.document = {};
    try {
      expect(() => new Recommender({ url, key })).toThrow(/secret.*Use a public key/);
      expect(() => new Recommender({ url, key: "rp_x" })).not.toThrow();
    } finally {
      delete page.document;
    }
    expect(() => new Recommender({ url: "shop.example.com", key })).toThrow(/must start with https/);
    expect(() => new Recommender({ url, key: undefined as never })).toThrow(/key is missing/);
  });
});

describe("kept lists", () => {
  const items = [{ itemId: "a", attributes: {} }];

  test("are bounded in memory and in the storage", () => {
    const storage = memory();
    const lists = new KeptLists(storage, 1000);
    for (let at = 0; at < 3000; at++) lists.keep(`question ${at}`, items);
    expect(lists.find("question 1999")).toBeUndefined();
    expect(lists.find("question 2000")).toEqual(items);
    const stored = new KeptLists(storage, 1000);
    expect(stored.find("question 2979")).toBeUndefined();
    expect(stored.find("question 2980")).toEqual(items);
  });

  test("are not used when they are too old", () => {
    const lists = new KeptLists(null, 0);
    lists.keep("question", items);
    expect(lists.find("question")).toBeUndefined();
  });

  test("survive a storage that is full, forbidden, or filled by another script", () => {
    const broken: KeptIn = {
      getItem: () => {
        throw new Error("forbidden");
      },
      setItem: () => {
        throw new Error("full");
      },
    };
    const lists = new KeptLists(broken, 1000);
    lists.keep("question", items);
    expect(lists.find("question")).toEqual(items);
    for (const text of [
      "{",
      "7",
      "null",
      '[["question"]]',
      '[["question",{"ts":9e15,"items":[null]}]]',
      "[[1,{}]]",
    ]) {
      const found = new KeptLists({ getItem: () => text, setItem: () => undefined }, 1000);
      expect(found.find("question")).toBeUndefined();
    }
  });
});

/** A storage like that of a browser. */
function memory(): KeptIn {
  const values = new Map<string, string>();
  return {
    getItem: (name) => values.get(name) ?? null,
    setItem: (name, value) => void values.set(name, value),
  };
}
