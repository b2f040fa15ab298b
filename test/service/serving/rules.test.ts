import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { explainHeader, type Rules } from "../../../contract";
import { Running } from "../running";
import { deploy, openShop, trainModel } from "../shop";
import { catalogue, type CatalogueItem as Item } from "./catalogue";
import { allows, anyRestrictions, fieldsOf, withoutUser } from "./restrictions";
import { declared, naively, naiveRules, type Scored } from "./rules-naive";

/** An expression with tests of lists within each other. */
function nestedTests(depth: number): string {
  return depth === 0 ? 'item.title.contains("x")' : `item.tags.all(tag${depth}, ${nestedTests(depth - 1)})`;
}

describe("the rules of a deployment", () => {
  const records = catalogue();
  const attributesOf = new Map(records.items.map(({ itemId, attributes }) => [itemId, attributes as Item]));
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  let modelId: string;
  const dataDir = mkdtempSync(join(tmpdir(), "rules-"));
  beforeAll(async () => {
    api = await Running.start({ dataDir });
    shop = await openShop(api, records);
    modelId = await trainModel(api, shop);
  });
  afterAll(async () => {
    await api.end();
    rmSync(dataDir, { recursive: true });
  });

  const withRules = (rules?: Rules, more: { rankerModelId?: string } = {}) =>
    deploy(api, shop.projectId, modelId, { qps: 100_000, ...(rules && { rules }), ...more });
  const idsOf = async (userId: string, more: object = {}) =>
    (await api.call("recommendItemsToUser", { userId, limit: 1000, ...more })).results.map(
      ({ item }) => item.itemId,
    );
  const similarTo = async (itemId: string, more: object = {}) =>
    (await api.call("recommendItemsToItem", { itemIds: [itemId], limit: 1000, ...more })).results.map(
      ({ item }) => item.itemId,
    );
  const explained = async (userId: string, limit = 1000) =>
    (
      await api.call("recommendItemsToUser", { userId, limit }, { headers: { [explainHeader]: "1" } })
    ).results.map(({ item, why }) => ({ itemId: item.itemId, why }));
  const refused = async (rules: Rules) => {
    const error = await withRules(rules).catch((thrown) => thrown);
    expect(error).toMatchObject({ status: 400 });
    return error.error.details;
  };

  test("give the same items as if all items were scored, filtered, sorted and arranged one by one", async () => {
    await withRules();
    const people = records.users.slice(0, 6);
    const scores = new Map<string, Scored[]>();
    for (const { userId } of people) {
      const all = (await explained(userId)).map(({ itemId, why }) => ({
        itemId,
        score: why?.score ?? Number.NEGATIVE_INFINITY,
        attributes: attributesOf.get(itemId) as Item,
      }));
      scores.set(userId, all);
    }
    const likeFirst = (await similarTo("i0")).map((itemId, at) => ({
      itemId,
      score: -at,
      attributes: attributesOf.get(itemId) as Item,
    }));
    const asked = fc.record({
      rules: naiveRules([...attributesOf.keys()]),
      restrictions: anyRestrictions([...attributesOf.keys()]),
      limits: fc.uniqueArray(fc.integer({ min: 1, max: 70 }), { minLength: 2, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(asked, async ({ rules, restrictions, limits }) => {
        await withRules(declared(rules));
        // Later calls use what earlier ones have cached.
        for (const { userId, attributes } of people) {
          const all = scores.get(userId) as Scored[];
          const restricted = all.filter((item) => allows(restrictions, item, attributes));
          for (const limit of limits) {
            expect(await idsOf(userId, { limit })).toEqual(naively(all, rules, attributes, limit));
            const options = { limit, ...fieldsOf(restrictions) };
            expect(await idsOf(userId, options)).toEqual(naively(restricted, rules, attributes, limit));
          }
        }
        // A call for similar items has no user, so expressions that read one see missing attributes.
        const nobody = { country: "", age: Number.NaN };
        const unweighted = { ...rules, boost: [], bury: [] };
        await withRules(declared(unweighted));
        const lists = withoutUser(restrictions);
        const similar = likeFirst.filter((item) => allows(lists, item, nobody));
        for (const limit of limits)
          expect(await similarTo("i0", { limit, ...fieldsOf(lists) })).toEqual(
            naively(similar, unweighted, nobody, limit),
          );
      }),
      { numRuns: 25 },
    );
  });

  test("also apply to calls with a filter and lists, which only remove items", async () => {
    const rules: Rules = {
      filter: 'item.in_stock == "yes"',
      boost: [{ when: "item.featured", factor: 50 }],
      pin: [{ itemId: "i1", position: 2, when: 'user.country == "at"' }],
      limitPer: [{ attribute: "country", max: 8 }],
    };
    await withRules({ ...rules, limitPer: [] });
    const all = await idsOf("u3");
    expect(all[1]).toBe("i1");
    const asked = { filterQuery: "item.price < 40", excludeItemIds: [all[0] as string] };
    const wanted = all.filter(
      (id) => (attributesOf.get(id)?.price ?? 99) < 40 && id !== all[0] && id !== "i1",
    );
    const pinned = [wanted[0], "i1", ...wanted.slice(1)];
    expect(await idsOf("u3", asked)).toEqual(pinned);
    expect(await idsOf("u3", { ...asked, excludeItemIds: [all[0], "i1"] })).toEqual(wanted);
    expect(await idsOf("u3", { ...asked, limit: 3 })).toEqual(pinned.slice(0, 3));
    await withRules(rules);
    const limited = await idsOf("u3", { limit: 10 });
    const countries = limited.map((id) => attributesOf.get(id)?.country);
    for (const country of new Set(countries))
      expect(countries.filter((one) => one === country).length).toBeLessThanOrEqual(8);
    expect(limited).toHaveLength(10);
  });

  test("are named in the reasons of each item that they changed", async () => {
    await withRules();
    const before = new Map((await explained("u5")).map(({ itemId, why }) => [itemId, why]));
    const pinned = [...before.keys()].at(-1) as string;
    await withRules({
      boost: [{ when: "item.featured", factor: 1.5 }],
      bury: [{ when: "item.featured && item.price > 30", factor: 0.5 }],
      pin: [{ itemId: pinned, position: 3 }],
    });
    const after = await explained("u5");
    expect(after[2]?.itemId).toBe(pinned);
    for (const { itemId, why } of after) {
      const { featured, price = 0 } = attributesOf.get(itemId) as Item;
      expect(why?.rules).toEqual([
        ...(featured ? [{ effect: "boosted", factor: 1.5 }] : []),
        ...(featured && price > 30 ? [{ effect: "buried", factor: 0.5 }] : []),
        ...(itemId === pinned ? [{ effect: "pinned", position: 3 }] : []),
      ]);
      expect(why?.score).toBeCloseTo(before.get(itemId)?.score as number);
    }
  });

  test("move items up and down with a ranker, too", async () => {
    const ranker = await trainModel(api, shop, "ranker");
    const rules: Rules = {
      boost: [{ when: 'item.genre[0] == "western"', factor: 1000 }],
      bury: [{ when: 'item.genre[0] == "drama"', factor: 0.001 }],
    };
    const genres = async () => (await idsOf("u0", { limit: 20 })).map((id) => attributesOf.get(id)?.genre[0]);
    await withRules(undefined, { rankerModelId: ranker });
    const before = await genres();
    await withRules(rules, { rankerModelId: ranker });
    const after = await genres();
    const count = (genre: string, list: typeof before) => list.filter((one) => one === genre).length;
    expect(count("western", after)).toBeGreaterThan(count("western", before));
    expect(count("drama", after)).toBeLessThan(count("drama", before));
  });

  test("read the current records, and survive a restart and attributes that no record has any more", async () => {
    const rules: Rules = {
      filter: 'item.in_stock == "yes" || item.season == 1',
      pin: [{ itemId: "seasonal", position: 1, when: "item.season == 1" }],
      limitPer: [{ attribute: "season", max: 1 }],
    };
    const write = (attributes: object) =>
      api.call("upsertDatasetItems", {
        itemDatasetId: shop.itemDatasetId,
        items: [{ itemId: "seasonal", attributes: { genre: ["drama"], ...attributes } }],
      });
    await write({ season: 1 });
    await withRules(rules);
    for (const _ of [1, 2]) expect((await idsOf("u7"))[0]).toBe("seasonal");
    await write({ season: 2 });
    expect(await idsOf("u7")).not.toContain("seasonal");
    await write({});
    const inStock = await idsOf("u7");
    expect(inStock.length).toBeGreaterThan(10);
    await api.end();
    api = await Running.start({ dataDir });
    expect(await idsOf("u7")).toEqual(inStock);
    await write({ season: 1 });
    expect((await idsOf("u7"))[0]).toBe("seasonal");
  });

  test("are part of the deployment, which reports them, until the next one", async () => {
    const { projectId } = shop;
    const rules: Rules = { filter: "item.price > 1", limitPer: [{ attribute: "country", max: 3 }] };
    await withRules(rules);
    const live = await api.call("getDeployment", { projectId });
    expect(live.rules).toEqual(rules);
    expect((await api.call("getJob", { projectId, jobId: live.jobId })).jobData?.rules).toEqual(rules);
    await withRules();
    expect((await api.call("getDeployment", { projectId })).rules).toBeNull();
    expect((await idsOf("u1")).length).toBeGreaterThan(40);
  });

  test("are rejected if an expression or a number is invalid", async () => {
    expect(await refused({ boost: [{ when: "item.price <", factor: 2 }], filter: "(" })).toEqual([
      { path: "rules.filter", message: "at character 2: the expression ends too early" },
      { path: "rules.boost[0].when", message: "at character 13: the expression ends too early" },
    ]);
    expect(await refused({ filter: `${"!".repeat(33)}true` })).toEqual([
      { path: "rules.filter", message: "at character 33: the expression is nested more than 32 levels deep" },
    ]);
    const path = async (rules: Rules) => (await refused(rules)).map((one: { path: string }) => one.path);
    expect(await path({ boost: [{ when: "true", factor: 1 }] })).toEqual(["rules.boost[0].factor"]);
    expect(await path({ bury: [{ when: "true", factor: 1 }] })).toEqual(["rules.bury[0].factor"]);
    expect(await path({ pin: [{ itemId: "i1", position: 0 }] })).toEqual(["rules.pin[0].position"]);
    expect(await path({ limitPer: [{ attribute: "country", max: 0 }] })).toEqual(["rules.limit_per[0].max"]);
  });

  test.each<[string, Rules]>([
    [
      "filter is invalid: at character 1: item.pric is unknown; did you mean item.price?",
      { filter: "item.pric < 3" },
    ],
    [
      "bury[0].when is invalid: at character 1: the expression must be true or false, but this is a number",
      { bury: [{ when: "item.price", factor: 0.5 }] },
    ],
    [
      "limitPer[0].attribute is invalid: contry is unknown; did you mean country?",
      { limitPer: [{ attribute: "contry", max: 1 }] },
    ],
    ["filter is invalid: at character 1: the expression is too expensive for", { filter: nestedTests(9) }],
  ])("fail the deployment with the reason: %s", async (reason, rules) => {
    await withRules();
    await expect(withRules(rules)).rejects.toThrow(reason);
    expect((await idsOf("u1")).length).toBeGreaterThan(40);
  });

  test("are an extension that the service lists", async () => {
    const { body } = await api.raw("/healthz");
    expect(body.extensions).toContain("/submit-deployment-job#rules");
  });
});
