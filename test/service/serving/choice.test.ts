import * as fc from "fast-check";
import { explainHeader, type Input, limits, type routes } from "../../../contract";
import { Running } from "../running";
import { deploy, openShop, trainModel } from "../shop";
import { catalogue, type CatalogueItem as Item } from "./catalogue";
import { allows, anyRestrictions, fieldsOf, type Restrictions, withoutUser } from "./restrictions";

type Options = Input<typeof routes.recommendItemsToUser>;

describe("the items of a recommendation", () => {
  const records = catalogue();
  const attributesOf = new Map(records.items.map(({ itemId, attributes }) => [itemId, attributes]));
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  beforeAll(async () => {
    api = await Running.start();
    shop = await openShop(api, records);
    await deploy(api, shop.projectId, await trainModel(api, shop), { qps: 100_000 });
  });
  afterAll(() => api.end());

  const idsOf = async (options: Options) =>
    (await api.call("recommendItemsToUser", { limit: 1000, ...options })).results.map(
      ({ item }) => item.itemId,
    );
  const similarTo = async (options: Input<typeof routes.recommendItemsToItem>) =>
    (await api.call("recommendItemsToItem", { limit: 1000, ...options })).results.map(
      ({ item }) => item.itemId,
    );
  const itemIds = [...attributesOf.keys()];
  const someItems = fc.subarray(itemIds, { minLength: 1, maxLength: 5 });
  const nobody = { country: "", age: Number.NaN };
  const allowed = (ids: readonly string[], ...[restrictions, user]: [Restrictions, typeof nobody]) =>
    ids.filter((itemId) =>
      allows(restrictions, { itemId, attributes: attributesOf.get(itemId) as Item }, user),
    );
  const store = (userId: string, events: NonNullable<Options["events"]>) =>
    api.call("upsertDatasetEvents", {
      eventDatasetId: shop.eventDatasetId,
      events: events.map(({ itemId, eventType = "purchase", eventValue = 1 }, at) => ({
        ...{ eventId: `${userId}-${at}`, userId, itemId, ts: 1_800_000_000_000, eventType, eventValue },
      })),
    });
  const detailsOf = async (options: object) => {
    const error = await idsOf(options as Options).catch((thrown) => thrown);
    expect(error).toMatchObject({ status: 400 });
    return error.error.details;
  };

  test("are the same as if all items were scored, filtered and sorted, with any options", async () => {
    const asked = fc.record(
      {
        user: fc.nat({ max: records.users.length - 1 }),
        restrictions: anyRestrictions(itemIds),
        limit: fc.integer({ min: 1, max: 70 }),
        visit: someItems,
      },
      { requiredKeys: ["user", "restrictions", "limit"] },
    );
    await fc.assert(
      fc.asyncProperty(asked, async ({ user, restrictions, limit, visit }) => {
        const { userId, attributes } = records.users[user] as (typeof records.users)[number];
        const events = visit?.map((itemId) => ({ itemId }));
        const given = { userId, ...(events && { events }) };
        const wanted = allowed(await idsOf(given), restrictions, attributes).slice(0, limit);
        const options = { ...given, limit, ...fieldsOf(restrictions) };
        expect(await idsOf(options)).toEqual(wanted);
        // The second call may use what the first one has kept.
        expect(await idsOf(options)).toEqual(wanted);
      }),
      { numRuns: 150 },
    );
  });

  test("that are similar to others are the same as if all were filtered afterwards, with any options", async () => {
    const asked = fc.record(
      {
        to: someItems,
        restrictions: anyRestrictions(itemIds).map(withoutUser),
        limit: fc.integer({ min: 1, max: 70 }),
        visit: someItems,
      },
      { requiredKeys: ["to", "restrictions", "limit"] },
    );
    await fc.assert(
      fc.asyncProperty(asked, async ({ to, restrictions, limit, visit }) => {
        const wanted = allowed(await similarTo({ itemIds: to }), restrictions, nobody)
          .filter((id) => !visit?.includes(id))
          .slice(0, limit);
        const events = visit?.map((itemId) => ({ itemId }));
        const options = { itemIds: to, limit, ...(events && { events }), ...fieldsOf(restrictions) };
        for (const _ of [1, 2]) expect(await similarTo(options)).toEqual(wanted);
      }),
      { numRuns: 100 },
    );
  });

  test("do not contain excluded items, and only included ones", async () => {
    const all = await idsOf({ userId: "u3" });
    const [first, second, third] = all as [string, string, string];
    expect(await idsOf({ userId: "u3", excludeItemIds: [second, "unknown"] })).toEqual(
      all.filter((id) => id !== second),
    );
    expect(await idsOf({ userId: "u3", includeItemIds: [third, "unknown", first] })).toEqual([first, third]);
    expect(await idsOf({ userId: "u3", includeItemIds: [third, first], excludeItemIds: [third] })).toEqual([
      first,
    ]);
    expect(await idsOf({ userId: "u3", includeItemIds: ["unknown"] })).toEqual([]);
    expect(await idsOf({ userId: "u3", excludeItemIds: [] })).toEqual(all);
  });

  test("that the user has are left out even if they are included", async () => {
    const had = records.events.find(({ userId }) => userId === "u3")?.itemId as string;
    expect(await idsOf({ userId: "u3", includeItemIds: [had] })).toEqual([]);
  });

  test("are the same for events of the visit as for stored events", async () => {
    const visit = ["i2", "i6", "i10"].map((itemId) => ({ itemId }));
    const anonymous = await idsOf({ events: visit });
    await store("visitor", visit);
    expect(anonymous).toEqual(await idsOf({ userId: "visitor" }));
    expect(anonymous).not.toContain("i2");
    const mixed = [{ itemId: "i5", eventValue: 2 }, { itemId: "i9" }, { itemId: "i5", eventValue: -1 }];
    const added = await idsOf({ userId: "visitor", events: mixed });
    await store("visitor", [...visit, ...mixed]);
    expect(added).toEqual(await idsOf({ userId: "visitor" }));
  });

  test("do not depend on events of earlier visits", async () => {
    const before = await idsOf({ userId: "u8" });
    await idsOf({ userId: "u8", events: [{ itemId: before[0] as string }] });
    expect(await idsOf({ userId: "u8" })).toEqual(before);
    const counted = await api.call("countDatasetRecords", { datasetId: shop.eventDatasetId });
    const stored = await idsOf({ events: [{ itemId: "i1" }] });
    expect(stored.length).toBeGreaterThan(0);
    expect(await api.call("countDatasetRecords", { datasetId: shop.eventDatasetId })).toEqual(counted);
  });

  test("ignore events of types that the model does not use, and of unknown items", async () => {
    const plain = await idsOf({ userId: "u9" });
    const events = [{ itemId: plain[0] as string, eventType: "view" }, { itemId: "unknown" }];
    expect(await idsOf({ userId: "u9", events })).toEqual(plain);
    expect(await idsOf({ events: [{ itemId: "unknown" }] })).toHaveLength(records.items.length);
  });

  test("are explained with every option", async () => {
    const options = {
      userId: "u4",
      limit: 4,
      filterQuery: 'item.in_stock == "yes"',
      excludeItemIds: ["i0"],
      events: [{ itemId: "i20" }],
    };
    const headers = { [explainHeader]: "3" };
    const { basis, results } = await api.call("recommendItemsToUser", options, { headers });
    expect(basis?.from).toBe("events");
    expect(results.map(({ item }) => item.itemId)).toEqual(await idsOf(options));
    for (const { why } of results) expect(why?.items.length).toBeGreaterThan(0);
  });

  test("need a user or events, and valid options", async () => {
    expect(await detailsOf({ filterQuery: "true" })).toEqual([
      { path: "user_id", message: expect.stringContaining("`events`") },
    ]);
    const many = Array(limits.listedItems + 1).fill("i1");
    const userId = "u1";
    expect(await detailsOf({ userId, excludeItemIds: many })).toMatchObject([{ path: "exclude_item_ids" }]);
    expect(await detailsOf({ userId, includeItemIds: many })).toMatchObject([{ path: "include_item_ids" }]);
    expect(await detailsOf({ userId, includeItemIds: [] })).toMatchObject([{ path: "include_item_ids" }]);
    const visit = Array(limits.visitEvents + 1).fill({ itemId: "i1" });
    expect(await detailsOf({ userId, events: visit })).toMatchObject([{ path: "events" }]);
    expect(await detailsOf({ userId, events: [{ itemId: "i1", eventType: "" }] })).toMatchObject([
      { path: "events[0].event_type" },
    ]);
  });
});
