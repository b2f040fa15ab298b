import { type Interactions, InteractionsBuilder } from "../../../service/algorithms";
import { efforts } from "../../../service/algorithms/training/effort";
import { holdOutLatest, latestOrder } from "../../../service/algorithms/training/latest";
import { singleThread } from "../../../service/algorithms/training/team";
import { TrialBench } from "../../../service/algorithms/training/trial";

/** Ten items of each of three users. `timeOf` gives the time of each pair. */
function built(timeOf: (user: number, item: number) => number): Interactions {
  const builder = new InteractionsBuilder();
  for (const user of [2, 0, 1])
    for (let item = 9; item >= 0; item--) builder.add(user, item, 1, timeOf(user, item));
  return builder.build();
}

const itemsOf = ({ start, index }: Interactions, user: number) => [
  ...index.subarray(start[user], start[user + 1]),
];

test("holds out the latest pairs of each user, and earlier ones in further windows", () => {
  const interactions = built((user, item) => (user === 1 ? -item : item));
  const first = holdOutLatest(interactions, 0.2);
  expect([0, 1, 2].map((user) => itemsOf(first.test, user))).toEqual([
    [8, 9],
    [0, 1],
    [8, 9],
  ]);
  expect(itemsOf(first.train, 1)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  const second = holdOutLatest(interactions, 0.2, 1);
  expect(itemsOf(second.test, 0)).toEqual([6, 7]);
  expect(itemsOf(second.train, 0)).toEqual([0, 1, 2, 3, 4, 5, 8, 9]);
  expect(holdOutLatest(interactions, 0.2, 5).test.index).toHaveLength(0);
});

test("a pair with several events has the time of the last one", () => {
  const builder = new InteractionsBuilder();
  for (const [item, time] of [
    [0, 9],
    [1, 5],
    [0, 1],
  ] as const)
    builder.add(0, item, 1, time);
  expect([...(builder.build().time ?? [])]).toEqual([9, 5]);
});

test("does not hold out pairs of equal times in the order of their ids", () => {
  const order = [...latestOrder(new Float64Array(50))];
  expect(order).not.toEqual([...order].sort((a, b) => a - b));
  expect(order).not.toEqual([...order].sort((a, b) => b - a));
});

test("tries parameters on the latest pairs, or on random ones if all events have the same time", () => {
  const kindOf = (timeOf: (user: number, item: number) => number) =>
    new TrialBench({
      interactions: built(timeOf),
      given: {},
      maxDimensions: 8,
      budget: efforts.quick,
      team: singleThread,
    }).kind;
  expect(kindOf((_, item) => item)).toBe("latest");
  expect(kindOf(() => 7)).toBe("random");
});
