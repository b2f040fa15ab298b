import { IdIndex } from "../../../service/base/id-index";
import { CachedEvents } from "../../../service/serving/cached-events";

const events = (items: string[], values: number[]) => JSON.stringify([items, values]);

test("events are cached by the index of their items, without items that have no index", () => {
  const kept = new CachedEvents(new IdIndex(["i0", "i1", "i2"]), "purchase");
  const read = kept.keep("ada", "3:7", events(["i2", "new", "i0"], [1.5, 4, -2]));
  expect([...read.items]).toEqual([0, 2]);
  expect(read.weights()).toEqual([{ item: 2, weight: 1.5 }]);
  expect(kept.find("ada")).toBe(read);
  expect(kept.find("ada")?.stamp).toBe("3:7");
});

test("the values of several events on one item are added up as in a training", () => {
  const read = new CachedEvents(new IdIndex(["i0", "i1"]), "purchase").keep(
    "ada",
    "3:7",
    events(["i1", "i0", "i1"], [0.1, 1, 0.2]),
  );
  expect([...read.items]).toEqual([0, 1]);
  expect(read.weights()[1]).toEqual({ item: 1, weight: Math.fround(Math.fround(0.1) + Math.fround(0.2)) });
});

test("the cache is emptied when items without an index may get one", () => {
  const kept = new CachedEvents(new IdIndex(["i0"]), "purchase");
  kept.keep("ada", "1:7", events(["new"], [1]));
  kept.clear();
  expect(kept.find("ada")).toBeUndefined();
});

test("the least recently used entries are evicted", () => {
  const items = Array.from({ length: 100 }, (_, item) => `i${item}`);
  const values = items.map(() => 1);
  const kept = new CachedEvents(new IdIndex(items), "purchase", 4500);
  for (const user of ["ada", "bob", "ada", "cyd", "dan"]) kept.keep(user, "100:7", events(items, values));
  expect(["ada", "bob", "cyd", "dan"].filter((user) => kept.find(user))).toEqual(["ada", "cyd", "dan"]);
  kept.keep("eve", "100:7", events(items, values));
  expect(["ada", "cyd", "dan", "eve"].filter((user) => kept.find(user))).toEqual(["cyd", "dan", "eve"]);
});

test("long ids are counted by their length", () => {
  const kept = new CachedEvents(new IdIndex(["i0"]), "purchase", 100_000);
  const ids = Array.from({ length: 50 }, (_, at) => `${at}${"x".repeat(10_000)}`);
  for (const id of ids) kept.keep(id, "1:7", events(["i0"], [1]));
  expect(ids.filter((id) => kept.find(id)).length).toBeLessThan(5);
});

test("users without events are not cached", () => {
  const kept = new CachedEvents(new IdIndex(["i0"]), "purchase");
  kept.keep("ada", "1:7", events(["i0"], [1]));
  for (const user of ["ada", "stranger"]) {
    expect([...kept.keep(user, "0:0", events([], [])).items]).toEqual([]);
    expect(kept.find(user)).toBeUndefined();
  }
});
