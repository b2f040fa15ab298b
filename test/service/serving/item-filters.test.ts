import { ServiceError } from "../../../service/base/error";
import { IdIndex } from "../../../service/base/id-index";
import { Column } from "../../../service/serving/filters/column";
import { ItemFilters } from "../../../service/serving/filters/item-filters";
import { ItemTable } from "../../../service/serving/filters/item-table";

const nobody = { attributes: async () => undefined };

describe("filters of a deployment", () => {
  /** Filters over records that are read as they are at that time. */
  function filtersOf(
    records: Record<string, object>,
    schemas: Partial<ConstructorParameters<typeof ItemFilters>[2]> = {},
  ) {
    const items = new IdIndex(Object.keys(records));
    let reads = 0;
    const filters = new ItemFilters(
      async (visit) => {
        reads++;
        for (const [id, attributes] of Object.entries(records)) visit(id, JSON.stringify(attributes));
      },
      items,
      { items: null, users: null, ...schemas },
    );
    const ids = async (text: string, user: object = {}) =>
      Array.from(
        await filters.matching(text, { attributes: async () => ({ ...user }) }),
        (item) => items.ids[item],
      );
    return { filters, items, ids, reads: () => reads };
  }

  type Filters = ReturnType<typeof filtersOf>;
  const messageOf = async (result: Promise<unknown>) => {
    const error = await result.catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ServiceError);
    return (error as ServiceError).more.details?.[0]?.message;
  };

  test("read the records once for several expressions over the same attributes", async () => {
    const { ids, reads } = filtersOf({ a: { price: 1 }, b: { price: 2 }, c: {} });
    expect(await ids("item.price > 1")).toEqual(["b"]);
    expect(await ids("item.price < user.budget", { budget: 2 })).toEqual(["a"]);
    expect(await ids("item.price < user.budget", { budget: 3 })).toEqual(["a", "b"]);
    expect(reads()).toBe(1);
  });

  test("read the attributes of earlier filters before the first call", async () => {
    const [earlier, next, unused] = [{ a: { price: 1, stock: 1 } }, { a: { price: 3 } }, {}].map((of) =>
      filtersOf(of as Record<string, object>),
    ) as [Filters, Filters, Filters];
    await earlier.ids("item.price > 0");
    await next.filters.prepareLike(earlier.filters);
    expect(next.reads()).toBe(1);
    expect(await next.ids("item.price > 2")).toEqual(["a"]);
    expect(next.reads()).toBe(1);
    await next.filters.prepareLike(unused.filters);
    expect(next.reads()).toBe(1);
  });

  test("read no records for an expression without item attributes", async () => {
    const { ids, reads } = filtersOf({ a: {}, b: {} });
    expect(await ids('user.country == "de"', { country: "de" })).toEqual(["a", "b"]);
    expect(await ids('user.country == "de"', { country: "at" })).toEqual([]);
    expect(reads()).toBe(0);
  });

  test("can be used with and without a user", async () => {
    const { filters, ids } = filtersOf({ a: { n: 1 } });
    const similar = (text: string) =>
      filters.matching(text, { ...nobody, noUser: "there is no user in this call" });
    expect(Array.from(await similar("item.n == 1"))).toEqual([0]);
    expect(await ids("item.n == user.n", { n: 1 })).toEqual(["a"]);
    expect(await messageOf(similar("item.n == user.n"))).toBe(
      "at character 11: there is no user in this call",
    );
  });

  test("follow every change of a record, also of a new item", async () => {
    const { filters, items, ids } = filtersOf({ a: { stock: 1, size: 1 }, b: { stock: 0, size: 1 } });
    const text = "item.stock > 0 && item.size == 1";
    expect(await ids(text)).toEqual(["a"]);
    filters.changed(items.add("b"), { stock: 3, size: 1 });
    expect(await ids(text)).toEqual(["a", "b"]);
    filters.changed(items.add("a"), { size: 1 });
    expect(await ids(text)).toEqual(["b"]);
    filters.changed(items.add("c"), { stock: 3, size: 1 });
    expect(await ids(text)).toEqual(["b", "c"]);
  });

  test("keep an attribute known that no item has any more, and know declared attributes", async () => {
    const { filters, ids } = filtersOf({ a: { sale: true } }, { items: { season: "CATEGORICAL" } });
    expect(await ids("item.sale")).toEqual(["a"]);
    filters.changed(0, {});
    expect(await ids("item.sale")).toEqual([]);
    expect(await ids('item.season == "summer"')).toEqual([]);
    expect(await messageOf(ids("item.sal"))).toContain("did you mean item.sale?");
  });

  test("check user attributes if the user dataset has a schema, and read numbers as declared", async () => {
    const { ids } = filtersOf(
      { a: { price: "12.5" }, b: { price: "n/a" } },
      { items: { price: "NUMERICAL" }, users: { age: "NUMERICAL", country: "CATEGORICAL" } },
    );
    expect(await ids("item.price < user.age", { age: "20" })).toEqual(["a"]);
    expect(await messageOf(ids("user.contry == 'de'"))).toBe(
      "at character 1: user.contry is unknown; did you mean user.country?",
    );
    expect(await messageOf(ids("user.age == 'old'"))).toContain("compares values of the same kind");
  });

  test("compare an attribute that has values of several kinds, and treat a single category as a list", async () => {
    const { ids } = filtersOf({ a: { tag: "new" }, b: { tag: ["new", "red"] }, c: { tag: 7 }, d: {} });
    expect(await ids('"new" in item.tag')).toEqual(["a", "b"]);
    expect(await ids('item.tag == "new"')).toEqual(["a"]);
    expect(await ids('item.tag != "new"')).toEqual(["b", "c", "d"]);
    expect(await ids("item.tag > 6")).toEqual(["c"]);
    expect(await ids('item.tag.exists(one, one == "red")')).toEqual(["b"]);
  });

  test("reject an expression that compares too many values for each call", async () => {
    const records = Object.fromEntries(
      Array.from({ length: 30_000 }, (_, at) => [`i${at}`, { title: `Title ${at}`, kind: at % 3 }]),
    );
    const { ids } = filtersOf(records);
    const expensive = Array.from({ length: 20 }, (_, at) => `item.title.contains(user.word${at})`).join(
      " || ",
    );
    expect(await messageOf(ids(expensive))).toMatch(
      /^at character 1: the expression is too expensive for 30,000 items: it takes \d+ times the limit/,
    );
    const cheap = Array.from({ length: 20 }, (_, at) => `item.kind == user.kind${at}`).join(" || ");
    expect(await ids(cheap, { kind7: 1 })).toHaveLength(10_000);
  });

  test.each([
    ["a test of each value within another", "item.numbers.exists(a, item.numbers.exists(b, a + b == 50))"],
    ["texts that are joined", `size(${Array(600).fill("item.text").join(" + ")}) == 3`],
    ["a search in joined texts", `(${Array(600).fill("item.text").join(" + ")}).contains("xy")`],
    ["long texts of the user", `size(${Array(600).fill("user.text").join(" + ")}) == 3`],
    ["long lists of the user", "user.numbers.exists(a, user.numbers.exists(b, a + b == 50))"],
    ["lists that differ", "item.numbers.exists(a, a in item.others)"],
  ])("reject an expression that takes long for few items: %s", async (_, expression) => {
    const numbers = Array.from({ length: 15_000 }, (_, at) => at % 10);
    const text = "x".repeat(30_000);
    const records = Object.fromEntries(
      Array.from({ length: 10 }, (_, at) => [
        `i${at}`,
        { numbers: [...numbers, at], others: [at, ...numbers], text: text + at },
      ]),
    );
    const { ids } = filtersOf(records);
    expect(await messageOf(ids(expression, { text, numbers }))).toMatch(
      /^at character \d+: .* too expensive/,
    );
  });

  test("can test long lists and texts, and search in long lists of the user", async () => {
    const numbers = Array.from({ length: 10_000 }, (_, at) => at);
    const { ids } = filtersOf({ a: { numbers, n: 7, text: "x".repeat(60_000) }, b: { n: -1, text: "Ä y" } });
    expect(await ids("item.numbers.exists(one, one == 9999)")).toEqual(["a"]);
    expect(await ids('item.text.contains("y")')).toEqual(["b"]);
    expect(await ids("item.n in user.numbers", { numbers })).toEqual(["a"]);
  });

  test("find values in lists of any values", async () => {
    const { ids } = filtersOf({
      ...{ a: { v: "x" }, b: { v: { k: 1, l: [2] } }, c: { v: [1, 2] }, d: { v: 2 }, e: {} },
      f: { v: "[1,2]" },
    });
    const list = ["x", { l: [2], k: 1 }, [1, 2], null];
    expect(await ids("item.v in user.list", { list })).toEqual(["a", "b", "c", "e"]);
    expect(await ids("item.v in user.list", { list: "x" })).toEqual(["a"]);
    expect(await ids("item.v in user.list", { list: { x: 1 } })).toEqual(["a"]);
  });

  test("change the case of ASCII letters only", async () => {
    const { ids } = filtersOf({ a: { title: "ÄBCz" }, b: { title: "ABCZ" }, c: { title: "äBC[" } });
    expect(await ids('item.title.lowerAscii() == "Äbcz"')).toEqual(["a"]);
    expect(await ids('item.title.lowerAscii() == "abcz"')).toEqual(["b"]);
    expect(await ids('item.title.upperAscii() == "äBC["')).toEqual(["c"]);
  });

  test("use records that are written while the records are read", async () => {
    let start = (): void => undefined;
    let resume = (): void => undefined;
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    const resumed = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const items = new IdIndex(["a", "b"]);
    const filters = new ItemFilters(
      async (visit) => {
        visit("a", '{"stock":1}');
        start();
        await resumed;
        visit("b", '{"stock":1}');
      },
      items,
      { items: null, users: null },
    );
    const found = filters.matching("item.stock > 0", nobody);
    await started;
    filters.changed(0, { stock: 0 });
    filters.changed(1, { stock: 0 });
    filters.changed(items.add("c"), { stock: 1 });
    resume();
    expect(Array.from(await found)).toEqual([2]);
  });
});

test("a failed read of the records is repeated by the next filter", async () => {
  let isBroken = true;
  const table = new ItemTable(
    async (visit) => {
      if (isBroken) throw new Error("no database");
      visit("a", '{"stock":1}');
    },
    () => 0,
    null,
  );
  await expect(table.columnsOf(["stock"])).rejects.toThrow("no database");
  isBroken = false;
  expect((await table.columnsOf(["stock"])).get("stock")?.values).toContain(1);
});

test("a column whose values are too long gives all of them up", () => {
  const column = new Column(100);
  for (let item = 0; item < 30; item++) column.set(item, `text ${item}`);
  expect([column.isTooLarge, column.size, column.codes.length]).toEqual([true, 1, 0]);
  const short = new Column(100);
  for (let item = 0; item < 3000; item++) short.set(item, item % 10);
  expect([short.isTooLarge, short.size]).toEqual([false, 11]);
});

test("a column forgets values that no item has any more", () => {
  const column = new Column();
  for (let time = 0; time < 10_000; time++) column.set(time % 3, `at ${time}`);
  expect(column.size).toBeLessThan(10);
  expect(column.characters).toBe(3 * '"at 9999'.length);
  expect(Array.from(column.codes.subarray(0, 3), (code) => column.values[code])).toEqual([
    ...["at 9999", "at 9997", "at 9998"],
  ]);
});
