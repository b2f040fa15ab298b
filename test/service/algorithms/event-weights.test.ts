import { InteractionsBuilder, type TrainingProgress, trainG1 } from "../../../service/algorithms";
import { pairWeight, weighted, withOthers } from "../../../service/algorithms/event-weights";
import { without } from "../../../service/algorithms/interactions";
import { createWorld } from "./world";

function pairsOf(
  ...events: readonly (readonly [user: number, item: number, weight: number, time?: number])[]
) {
  const builder = new InteractionsBuilder();
  for (const event of events) builder.add(...event);
  return builder.build(2, 4);
}

const rowsOf = ({ start, index, weight }: ReturnType<typeof pairsOf>) =>
  [0, 1].map((user) =>
    Array.from(index.subarray(start[user], start[user + 1]), (item, at) => [item, weight[start[user] + at]]),
  );

test("the weight of a pair is the sum of its target events and the weighted events of other types", () => {
  const target = pairsOf([0, 2, 1], [1, 0, 1]);
  const others = [
    { type: "view", interactions: pairsOf([0, 2, 5], [0, 1, 1], [1, 3, 2]) },
    { type: "cart", interactions: pairsOf([0, 1, 1]) },
    { type: "search", interactions: pairsOf([0, 0, 9]) },
  ];
  const added = weighted(others, { view: 0.1, cart: 0.5, search: 0 });
  const [first, second] = rowsOf(withOthers(target, added));
  expect(first).toEqual([
    [
      1,
      pairWeight(0, [
        { sum: 1, weight: 0.5 },
        { sum: 1, weight: 0.1 },
      ]),
    ],
    [2, pairWeight(1, [{ sum: 5, weight: 0.1 }])],
  ]);
  expect(second).toEqual([
    [0, 1],
    [3, pairWeight(0, [{ sum: 2, weight: 0.1 }])],
  ]);
  expect(weighted(others, {})).toBeNull();
  expect(withOthers(target, null)).toBe(target);
});

test("holds out other events on a held-out item if they are at its time or later", () => {
  const views = pairsOf([0, 0, 1, 5], [0, 1, 1, 7], [0, 2, 1, 1], [1, 0, 1, 9]);
  const held = pairsOf([0, 0, 1, 6], [0, 1, 1, 7], [1, 3, 1, 2]);
  expect(rowsOf(without(views, held))).toEqual([
    [
      [0, 1],
      [2, 1],
    ],
    [[0, 1]],
  ]);
  const untimed = { ...views, time: undefined };
  expect(rowsOf(without(untimed, held))[0]).toEqual([[2, 1]]);
});

test("the model is the same byte for byte if there are no events of other types", () => {
  const { interactions } = createWorld({ users: 60, items: 40 });
  const given = { effort: "quick", dimensions: 8 } as const;
  const nothing = {
    ...interactions,
    start: new Uint32Array(61),
    index: new Uint32Array(0),
    weight: new Float32Array(0),
  };
  const alone = trainG1({ interactions }, given);
  expect(trainG1({ interactions, others: [{ type: "view", interactions: nothing }] }, given)).toEqual(alone);
});

test("searches the event weights in a separate phase, before the parameters", () => {
  const { interactions } = createWorld({ users: 60, items: 40 });
  const steps: TrainingProgress[] = [];
  const given = { effort: "quick", dimensions: 8, regularization: 0.05, alpha: 0.3, epochs: 2 } as const;
  trainG1({ interactions, others: [{ type: "view", interactions }] }, given, (step) => steps.push(step));
  expect([...new Set(steps.map(({ phase }) => phase))]).toEqual(["weights", "search", "train", "attributes"]);
  const fractions = steps.filter(({ phase }) => phase === "weights").map(({ fraction }) => fraction);
  expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
  expect(fractions.at(-1)).toBe(1);
});
