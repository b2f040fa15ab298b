import { limits, routes } from "../../../contract";
import { Running } from "../running";
import { deploy, openShop, trainModel } from "../shop";
import { catalogue, type CatalogueItem as Item } from "./catalogue";

const { path } = routes.recommendItemsToUser;
describe("a filter", () => {
  const records = catalogue();
  const attributesOf = new Map(records.items.map(({ itemId, attributes }) => [itemId, attributes as Item]));
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  beforeAll(async () => {
    api = await Running.start();
    shop = await openShop(api, records);
    await deploy(api, shop.projectId, await trainModel(api, shop), { qps: 100_000 });
  });
  afterAll(() => api.end());

  const ask = (filterQuery: string | null, userId = "u1", limit = 1000) =>
    api.call("recommendItemsToUser", { userId, limit, filterQuery });
  const idsOf = async (...asked: Parameters<typeof ask>) =>
    (await ask(...asked)).results.map(({ item }) => item.itemId);
  const reasonOf = async (filterQuery: string) => {
    const error = await ask(filterQuery).catch((thrown) => thrown);
    expect(error).toMatchObject({ status: 400, error: { details: [{ path: "filter_query" }] } });
    return error.error.details[0].message as string;
  };

  test.each<[string, (item: Item) => boolean]>([
    ['item.in_stock == "yes"', (item) => item.in_stock === "yes"],
    ['item.in_stock != "yes"', (item) => item.in_stock !== "yes"],
    ["item.price < 20.0", (item) => (item.price ?? Infinity) < 20],
    ["item.price >= 20", (item) => (item.price ?? -1) >= 20],
    ["!(item.price < 20)", (item) => !((item.price ?? Infinity) < 20)],
    ["!has(item.price)", (item) => item.price === undefined],
    ["item.price == null", (item) => item.price === undefined],
    ['"adult" in item.tags', (item) => item.tags?.includes("adult") ?? false],
    ['!("adult" in item.tags)', (item) => !item.tags?.includes("adult")],
    ['item.country in ["de", "any"]', (item) => ["de", "any"].includes(item.country)],
    ['item.country in [user.country, "any"]', (item) => ["at", "any"].includes(item.country)],
    ["item.country == user.country", (item) => item.country === "at"],
    ["item.featured", (item) => item.featured],
    ["!item.featured || item.price > 30", (item) => !item.featured || (item.price ?? -1) > 30],
    ["item.price < item.list_price", (item) => (item.price ?? 1) < (item.list_price ?? 0)],
    [
      "item.price + 1 <= item.list_price * 1.02",
      (item) => (item.price ?? NaN) + 1 <= (item.list_price ?? NaN) * 1.02,
    ],
    [
      "item.featured ? item.price < 30 : has(item.tags)",
      (item) => (item.featured ? (item.price ?? 99) < 30 : item.tags !== undefined),
    ],
    ['item.tags.exists(tag, tag.startsWith("ad"))', (item) => item.tags?.includes("adult") ?? false],
    ['item.tags.all(tag, tag == "new")', (item) => item.tags?.every((tag) => tag === "new") ?? true],
    ['item.tags.exists_one(tag, tag != "new")', (item) => item.tags?.includes("adult") ?? false],
    ["item.tags.exists(tag, tag == item.in_stock)", () => false],
    ["size(item.tags) == 2", (item) => item.tags?.length === 2],
    ['item.title.contains("le 1")', (item) => item.title.includes("le 1")],
    ['item.title.lowerAscii().endsWith("e 7")', (item) => item.title.endsWith("e 7")],
    ['item["shelf life"] % 4 == 1', (item) => item["shelf life"] % 4 === 1],
    ["item.size.width > 4", (item) => item.size.width > 4],
    ["item.genre[0] == user.likes", (item) => item.genre[0] === "comedy"],
    ['"comedy" in item.genre', (item) => item.genre[0] === "comedy"],
    ["user.age == 21", () => true],
    ["user.age > 21", () => false],
    ["double(string(item.price)) == item.price", () => true],
    ["true", () => true],
    // As long as an expression can be, so it must not need too much of the stack.
    [
      `item.price == 1.5${" || item.country == user.country".repeat(300)}`,
      (item) => item.price === 1.5 || item.country === "at",
    ],
    [`${"!".repeat(32)}item.featured`, (item) => item.featured],
  ])("%s returns exactly the items for which it is true, in the same order", async (text, matches) => {
    const all = await idsOf(null);
    const wanted = all.filter((id) => matches(attributesOf.get(id) as Item));
    const { filterQuery, results } = await ask(text);
    expect(filterQuery).toBe(text);
    expect(results.map(({ item }) => item.itemId)).toEqual(wanted);
    expect(await idsOf(text, "u1", 3)).toEqual(wanted.slice(0, 3));
  });

  test.each([
    ["item.pric < 20", "at character 1: item.pric is unknown; did you mean item.price?"],
    ["price < 20", "at character 1: price is unknown; did you mean item.price?"],
    [
      'item.in_stock == "yes" && item.price < "20"',
      /^at character 27: < compares .* left side is a number and the right side is text$/,
    ],
    ["item.price <", "at character 13: the expression ends too early"],
    ["item.price < 20 & true", "at character 17: unexpected character: &"],
    ["item.price", "at character 1: the expression must be true or false, but this is a number"],
    ["!item.title", "at character 2: the operand of ! must be true or false, but this is text"],
    ["item.tags in [1]", /^at character 1: the left side of in is a list/],
    ['item.price in ["a"]', /^at character 1: no value of the list can be equal to the left side/],
    ['item.title.starts("a")', /^at character 1: there is no method starts; did you mean startsWith\?/],
    ["matches(item.title)", /^at character 1: there is no function matches/],
    ["item", "at character 1: name an attribute of item, as in item.country"],
    ["process.env", /^at character 1: process is unknown/],
    ["item.constructor == 1", /^at character 1: item.constructor is unknown/],
    [`${"(".repeat(40)}true${")".repeat(40)}`, /nested more than 32 levels deep/],
    [`${"!".repeat(40)}item.featured`, /^at character 33: the expression is nested more than 32 levels deep/],
    [`item.price < ${"-".repeat(2400)}1`, /nested more than 32 levels deep/],
    [`item.price == ${Array(1300).fill("1").join(" + ")}`, /more than 2500 parts/],
  ])("%.60s is rejected with the position and the reason", async (text, reason) => {
    const message = await reasonOf(text);
    if (typeof reason === "string") expect(message).toBe(reason);
    else expect(message).toMatch(reason);
  });

  test("reads records that were written after the training", async () => {
    const [first] = (await idsOf('item.in_stock == "yes"', "u2", 1)) as [string];
    const write = (in_stock: string) =>
      api.call("upsertDatasetItems", {
        itemDatasetId: shop.itemDatasetId,
        items: [{ itemId: first, attributes: { ...attributesOf.get(first), in_stock } }],
      });
    await write("no");
    for (const _ of [1, 2]) expect(await idsOf('item.in_stock == "yes"', "u2")).not.toContain(first);
    await write("yes");
    for (const _ of [1, 2]) expect((await idsOf('item.in_stock == "yes"', "u2", 1))[0]).toBe(first);
  });

  test("finds new items and new attributes", async () => {
    await reasonOf("item.season == 1");
    const items = [{ itemId: "spring", attributes: { genre: ["comedy"], season: 1 } }];
    await api.call("upsertDatasetItems", { itemDatasetId: shop.itemDatasetId, items });
    for (const _ of [1, 2]) expect(await idsOf("item.season == 1")).toEqual(["spring"]);
  });

  test("gives as many items as match, also to users without a record and without events", async () => {
    expect(await idsOf('item.country == "any"', "stranger", 5)).toHaveLength(5);
    expect(await idsOf('user.country == "de"', "stranger")).toEqual([]);
    // The only item without a country.
    expect(await idsOf("item.country == user.country", "stranger")).toEqual(["spring"]);
  });

  test("is limited in length", async () => {
    const error = await ask(`true${" ".repeat(limits.filterCharacters)}`).catch((thrown) => thrown);
    expect(error).toMatchObject({ status: 400, error: { details: [{ path: "filter_query" }] } });
  });

  test("is advertised together with the other options", async () => {
    const { body } = await api.raw("/healthz");
    for (const field of ["filter_query", "exclude_item_ids", "include_item_ids", "events"])
      expect(body.extensions).toContain(`${path}#${field}`);
  });
});
