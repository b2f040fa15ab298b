import { InteractionsBuilder } from "../../../service/algorithms";
import { itemCounts, selectUsers, transpose } from "../../../service/algorithms/interactions";
import { scaledWeight, scaleWeights, weightScaleOf } from "../../../service/algorithms/weighting";

function build(events: [number, number, number][]) {
  const builder = new InteractionsBuilder();
  for (const event of events) builder.add(...event);
  return builder.build();
}

test("adds up the events of a pair, with ascending items for each user", () => {
  const of = build([
    [1, 2, 1],
    [0, 1, 0.5],
    [1, 0, 3],
    [1, 2, 4],
  ]);
  expect([...of.start]).toEqual([0, 1, 3]);
  expect([...of.index]).toEqual([1, 0, 2]);
  expect([...of.weight]).toEqual([0.5, 3, 5]);
});

test("leaves out pairs with a sum of 0 or less", () => {
  const of = build([
    [0, 0, 0],
    [0, 1, 2],
    [0, 1, -2],
    [0, 2, Number.NaN],
    [0, 3, 1],
  ]);
  expect([...of.index]).toEqual([3]);
});

test("users and items without events keep their indices", () => {
  const builder = new InteractionsBuilder();
  builder.add(1, 1, 1);
  const of = builder.build(4, 3);
  expect([...of.start]).toEqual([0, 0, 1, 1, 1]);
  expect([...itemCounts(of)]).toEqual([0, 1, 0]);
  expect(() => builder.build(1, 1)).toThrow(RangeError);
});

test("grows its buffers, and transposing twice gives the same interactions", () => {
  const builder = new InteractionsBuilder();
  for (let event = 0; event < 5000; event++)
    builder.add((event * 7) % 61, (event * 13) % 47, 1 + (event % 3));
  const of = builder.build();
  expect(transpose(transpose(of))).toEqual(of);
});

test("renumbers selected users and keeps the items", () => {
  const of = selectUsers(
    build([
      [0, 4, 1],
      [1, 3, 2],
      [2, 1, 3],
    ]),
    Uint32Array.of(2, 0),
  );
  expect([...of.start]).toEqual([0, 1, 2]);
  expect([...of.index]).toEqual([1, 4]);
  expect(of.items).toBe(5);
});

test.each(["linear", "log"] as const)("%s weights have a mean of 1 and grow with the value", (weighting) => {
  const of = build([1, 5, 20, 400].map((value, item) => [0, item, value]));
  const { weight } = scaleWeights(of, weightScaleOf(of, weighting, 0));
  expect(weight.reduce((sum, value) => sum + value) / 4).toBeCloseTo(1, 5);
  expect([...weight]).toEqual([...weight].sort((a, b) => a - b));
});

test("computes the weights of models that were stored before damping existed", () => {
  const kept = { weighting: "linear", typical: 1, average: 2 } as const;
  expect(scaledWeight(kept, 6, 40)).toBe(3);
});

test("damped weights have a mean of 1 and fall with the number of the user's items", () => {
  const of = build([
    [0, 0, 1],
    [1, 0, 1],
    [1, 1, 1],
    [1, 2, 1],
    [1, 3, 1],
  ]);
  const { weight } = scaleWeights(of, weightScaleOf(of, "linear", 0.5));
  expect(weight.reduce((sum, value) => sum + value) / 5).toBeCloseTo(1, 5);
  expect(weight[0] / weight[1]).toBeCloseTo(2, 5);
});
