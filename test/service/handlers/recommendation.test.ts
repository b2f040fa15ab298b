import { limits, routes } from "../../../contract";
import { Serving } from "../../../service/serving/serving";
import { testOfOneApi, testOnPostgres, testTwoApis } from "../database";
import { ManualClock } from "../manual-clock";
import { Running } from "../running";
import { deploy, openShop, shopRecords, trainModel } from "../shop";

const recommend = routes.recommendItemsToUser.path;

describe("recommendations", () => {
  const records = shopRecords();
  const clock = new ManualClock();
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  let generator: string;
  beforeAll(async () => {
    api = await Running.start({ clock });
    shop = await openShop(api, records);
    generator = await trainModel(api, shop);
    await deploy(api, shop.projectId, generator, { qps: 100_000 });
  });
  afterAll(() => api.end());

  const idsFor = async (userId: string, limit = 10) =>
    (await api.call("recommendItemsToUser", { userId, limit })).results.map(({ item }) => item.itemId);
  const genreOf = (itemId: string) =>
    records.items.find((item) => item.itemId === itemId)?.attributes.genre[0];
  const buy = (eventId: string, userId: string, itemId: string, more: object = {}) =>
    api.call("upsertDatasetEvents", {
      eventDatasetId: shop.eventDatasetId,
      events: [{ eventId, userId, itemId, ts: 1, eventType: "purchase", ...more }],
    });

  test("are not found for a project id with a NUL, in any store", async () => {
    const headers = { "content-type": "application/json", ...(await api.headers(recommend)) };
    const body = JSON.stringify({ user_id: "u1" });
    const answer = await api.raw(`/serving/%00${recommend}`, { method: "POST", headers, body });
    expect([answer.status, answer.body.error.code]).toEqual([404, "NOT_FOUND"]);
  });

  testOnPostgres(
    "at unknown addresses make a process read the deployments at most ten times per second",
    async () => {
      const look = jest.spyOn(Serving.prototype as unknown as { look(): Promise<void> }, "look");
      const headers = { "content-type": "application/json", ...(await api.headers(recommend)) };
      const body = JSON.stringify({ user_id: "u1" });
      const began = performance.now();
      const call = async (address: string) =>
        (await api.raw(`/serving/${address}${recommend}`, { method: "POST", headers, body })).status;
      // Sequential calls, because concurrent calls share one read.
      for (let at = 0; at < 20; at++) expect(await call(`stack/shop/s${at}/live`)).toBe(409);
      expect(await call("project-0")).toBe(404);
      const most = (testTwoApis ? 2 : 1) * ((performance.now() - began) / 100 + 1);
      const looks = look.mock.calls.length;
      look.mockRestore();
      expect(looks).toBeLessThanOrEqual(most);
    },
  );

  test("contain the request and the requested attributes", async () => {
    const attributes = ["genre", "title", "missing"];
    const reply = await api.call("recommendItemsToUser", { userId: "u1", attributes, limit: 3 });
    expect(reply).toMatchObject({ userId: "u1", attributes, limit: 3, filterQuery: null });
    expect(reply.results).toHaveLength(3);
    for (const { item } of reply.results) {
      const record = records.items.find(({ itemId }) => itemId === item.itemId);
      expect(item.attributes).toEqual({ ...record?.attributes, missing: null });
    }
  });

  test("an attribute named like a property of every object is returned only if the item has it", async () => {
    const attributes = ["constructor", "toString", "__proto__"];
    const items = [{ itemId: "i0", attributes: JSON.parse('{"__proto__":"own","constructor":"maker"}') }];
    await api.call("upsertDatasetItems", { itemDatasetId: shop.itemDatasetId as string, items });
    const headers = { ...(await api.headers(recommend)), "content-type": "application/json" };
    const body = JSON.stringify({ user_id: "nobody", attributes, limit: 1000 });
    const { text } = await api.raw(recommend, { method: "POST", headers, body });
    expect(text).toContain('"constructor":"maker","toString":null,"__proto__":"own","item_id":"i0"');
    expect(text).toContain('"constructor":null,"toString":null,"__proto__":null,"item_id":"i1"');
    await api.call("upsertDatasetItems", {
      itemDatasetId: shop.itemDatasetId as string,
      items: records.items.slice(0, 1),
    });
  });

  test("more items or attributes than the limit are rejected", async () => {
    await expect(idsFor("u0", limits.recommendedItems + 1)).rejects.toMatchObject({
      status: 400,
      error: { details: [{ path: "limit", message: expect.stringContaining("1,000") }] },
    });
    const attributes = Array.from({ length: limits.recommendedAttributes + 1 }, () => "genre");
    await expect(api.call("recommendItemsToUser", { userId: "u0", attributes })).rejects.toMatchObject({
      status: 400,
      error: { details: [{ path: "attributes" }] },
    });
  });

  test("follow the user's preferences and exclude items that the user has", async () => {
    for (const user of [0, 1, 2, 3, 9]) {
      const had = new Set(
        records.events.filter((event) => event.userId === `u${user}`).map((event) => event.itemId),
      );
      const ids = await idsFor(`u${user}`, 5);
      for (const id of ids) expect(had).not.toContain(id);
      const liked = records.users[user]?.attributes.likes;
      expect(ids.filter((id) => genreOf(id) === liked).length).toBeGreaterThanOrEqual(3);
    }
    const all = await idsFor("u0", 1000);
    expect(all.length).toBeLessThan(records.items.length);
  });

  test("reflect events that are added, changed and deleted after the deployment", async () => {
    const [first] = (await idsFor("u5", 1)) as [string];
    await buy("later", "u5", first);
    expect(await idsFor("u5", 1000)).not.toContain(first);
    // With a new type, the event is no longer a target event.
    await buy("later", "u5", first, { eventType: "view" });
    expect(await idsFor("u5", 1000)).toContain(first);
    await buy("later", "u5", first);
    await buy("later-too", "u5", first);
    await api.call("deleteDatasetEventsBeforeTs", { eventDatasetId: shop.eventDatasetId, ts: 2 });
    expect(await idsFor("u5", 1000)).toContain(first);
    const had = records.events.filter((event) => event.userId === "u5").map((event) => event.itemId);
    await api.call("deleteDatasetUserEvents", { eventDatasetId: shop.eventDatasetId, userId: "u5" });
    expect(await idsFor("u5", 1000)).toEqual(expect.arrayContaining(had));
  });

  test("fit a user who was added after the training, from the first events", async () => {
    for (const [at, item] of ["i2", "i6", "i10"].entries()) await buy(`new-${at}`, "newcomer", item);
    const ids = await idsFor("newcomer", 5);
    expect(ids.filter((id) => genreOf(id) === "action").length).toBeGreaterThanOrEqual(4);
    expect(ids).not.toContain("i2");
  });

  test("fit a user without events by attributes", async () => {
    const users = [{ userId: "silent", attributes: { likes: "western", age: 30 } }];
    await api.call("upsertDatasetUsers", { userDatasetId: shop.userDatasetId, users });
    const ids = await idsFor("silent", 5);
    expect(ids.filter((id) => genreOf(id) === "western").length).toBeGreaterThanOrEqual(4);
  });

  test("contain popular items for an unknown user", async () => {
    expect(await idsFor("stranger", 5)).toHaveLength(5);
  });

  test("contain items that were added after the training, by their attributes", async () => {
    const items = [{ itemId: "brand-new", attributes: { genre: ["comedy"], title: "Brand new" } }];
    await api.call("upsertDatasetItems", { itemDatasetId: shop.itemDatasetId, items });
    const place = async (userId: string) => (await idsFor(userId, 1000)).indexOf("brand-new");
    expect(await place("u1")).toBeGreaterThanOrEqual(0);
    expect(await place("u1")).toBeLessThan(await place("u3"));
    const { results } = await api.call("recommendItemsToUser", {
      userId: "u1",
      limit: 1000,
      attributes: ["title"],
    });
    expect(results.find(({ item }) => item.itemId === "brand-new")?.item.attributes).toEqual({
      title: "Brand new",
    });
  });

  test("contain new attributes of an item immediately", async () => {
    const ask = async () =>
      (await api.call("recommendItemsToUser", { userId: "u1", limit: 1, attributes: ["title"] })).results[0]
        ?.item;
    const item = await ask();
    const items = [{ itemId: item?.itemId as string, attributes: { title: "Renamed" } }];
    await api.call("upsertDatasetItems", { itemDatasetId: shop.itemDatasetId, items });
    expect((await ask())?.attributes).toEqual({ title: "Renamed" });
  });

  test("a ranker without a gain on its held-out set changes nothing", async () => {
    const before = await idsFor("u1", 10);
    const { projectId } = shop;
    const parameters = { dimensions: 2, regularization: 0.5, alpha: 5, epochs: 1 };
    const { algorithmId } = await api.call("createAlgorithm", {
      projectId,
      name: "coarse",
      algorithmParameters: parameters,
    });
    const rankerModelId = await trainModel(api, { projectId, algorithmId }, "ranker");
    await deploy(api, projectId, generator, { rankerModelId });
    const after = await idsFor("u1", 1000);
    expect(after.slice(0, 10)).toEqual(before);
    expect(new Set(after).size).toBe(after.length);
    expect(after).toEqual(expect.arrayContaining(before));
    expect(await idsFor("stranger", 5)).toHaveLength(5);
  });

  testOfOneApi("more calls than qps are put off with the time to wait", async () => {
    await deploy(api, shop.projectId, generator, { qps: 2 });
    await idsFor("u1");
    await idsFor("u1");
    await expect(idsFor("u1")).rejects.toMatchObject({
      status: 429,
      error: { code: "RATE_LIMITED" },
      headers: { "retry-after": "1" },
    });
    clock.advance(499);
    await expect(idsFor("u1")).rejects.toMatchObject({ status: 429 });
    clock.advance(1);
    await idsFor("u1");
    await expect(idsFor("u1")).rejects.toMatchObject({ status: 429 });
    clock.advance(10_000);
    await idsFor("u1");
    await idsFor("u1");
    await expect(idsFor("u1")).rejects.toMatchObject({ status: 429 });
  });

  test("if several projects are deployed, the error of the base address asks for the serving_uri", async () => {
    const other = await openShop(api, records);
    const uri = await deploy(api, other.projectId, await trainModel(api, other));
    clock.advance(10_000);
    await expect(idsFor("u1")).rejects.toMatchObject({
      status: 409,
      error: { code: "CONFLICT", message: expect.stringContaining(uri) },
    });
    const { results } = await api.call("recommendItemsToUser", { userId: "u1" }, { base: uri });
    expect(results).toHaveLength(10);
  });

  testOnPostgres("a call without a project uses the project that replaced another one", async () => {
    const deployed = (await api.ask("select * from deployments")) as Record<string, string>[];
    const former = deployed.find((row) => row.project_id === shop.projectId);
    const next = deployed.find((row) => row.project_id !== shop.projectId);
    await api.ask(`delete from deployments where project_id = '${next?.project_id}'`);
    // In each of two processes.
    for (const userId of ["u1", "u2"]) expect(await idsFor(userId)).toHaveLength(10);
    clock.advance(1000);
    // Like another process whose notification has not arrived yet.
    await api.ask(`update deployments set project_id = '${next?.project_id}', job_id = '${next?.job_id}',
      generator_model_id = '${next?.generator_model_id}' where project_id = '${former?.project_id}'`);
    for (const userId of ["u1", "u2"]) expect(await idsFor(userId)).toHaveLength(10);
  });
});
