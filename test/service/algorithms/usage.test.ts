import {
  attributeValues,
  histogramOf,
  InteractionsBuilder,
  Recommender,
  trainG1,
  usageReader,
  usersWithin,
} from "../../../service/algorithms";

function trained() {
  const builder = new InteractionsBuilder();
  builder.add(0, 0, 3);
  builder.add(0, 1, 1);
  builder.add(1, 1, 2);
  builder.add(2, 0, 5);
  return trainG1({ interactions: builder.build(4, 3) });
}

test("usage is the share of a user's event weight on items with the value", () => {
  const usage = usageReader(trained())([0]);
  expect([...usage.slice(0, 3)]).toEqual([0.75, 0, 1]);
});

test("usage of a user without events is the share of the first recommendations", () => {
  expect(usageReader(trained())([0, 2])[3]).toBeCloseTo(2 / 3);
});

test("bounds are inclusive, and null means no bound", () => {
  const usage = Float64Array.of(0.75, 0, 1);
  expect(usersWithin(usage, 0.75, 1)).toEqual([0, 2]);
  expect(usersWithin(usage, null, 0.5)).toEqual([1]);
  expect(usersWithin(usage, null, null)).toEqual([0, 1, 2]);
});

test("bounds and bins include shares on their edges in spite of rounding", () => {
  const builder = new InteractionsBuilder();
  for (let event = 0; event < 100; event++) builder.add(0, event < 29 ? 0 : 1, 1);
  for (let event = 0; event < 10; event++) builder.add(1, event < 3 ? 0 : 1, 0.1);
  const usage = usageReader(trainG1({ interactions: builder.build(2, 2) }))([0]);
  expect(usersWithin(usage, 0.29, 0.29)).toEqual([0]);
  expect(usersWithin(usage, 0.25, 0.3)).toEqual([0, 1]);
  expect(usersWithin(usage, 0.3, 1)).toEqual([1]);
  const { counts } = histogramOf(usage, 100);
  expect([counts[28], counts[29], counts[30]]).toEqual([0, 1, 1]);
});

test("computes the recommendations of a user without events once for all values", () => {
  const ranked = jest.spyOn(Recommender.prototype, "top");
  const usageOf = usageReader(trained());
  for (const item of [0, 1, 2]) usageOf([item]);
  expect(ranked).toHaveBeenCalledTimes(1);
  ranked.mockRestore();
});

test("a histogram has 20 bins from 0 to 1 by default, and the last one includes 1", () => {
  const { edges, counts } = histogramOf(Float64Array.of(0, 0.049, 0.05, 1));
  expect(counts).toHaveLength(20);
  expect(edges).toHaveLength(21);
  expect([edges[0], edges[20]]).toEqual([0, 1]);
  expect([counts[0], counts[1], counts[19]]).toEqual([2, 1, 1]);
});

test("a histogram of equal values fills one bin, and a histogram without users fills none", () => {
  expect(histogramOf(new Float64Array(7).fill(0.5), 4).counts).toEqual([0, 0, 7, 0]);
  expect(histogramOf(new Float64Array(0), 3)).toEqual({ edges: [0, 1 / 3, 2 / 3, 1], counts: [0, 0, 0] });
  expect(histogramOf(Float64Array.of(0, 1), 1).counts).toEqual([2]);
});

test("lists the values of categorical item attributes with their items", () => {
  const values = attributeValues([{ genre: ["a", "b"], year: 1 }, undefined, { genre: "a", year: 2 }]);
  expect(values.map(({ attribute, value, items }) => [attribute, value, [...items]])).toEqual([
    ["genre", "a", [0, 2]],
    ["genre", "b", [0]],
  ]);
});
