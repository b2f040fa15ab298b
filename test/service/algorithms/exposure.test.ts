import {
  type G1Model,
  isPlaced,
  measureExposure,
  Recommender,
  servable,
  trainG1,
} from "../../../service/algorithms";
import { penalized } from "../../../service/algorithms/exposure";
import { encodeModel } from "../../../service/files/format/model";
import { createWorld } from "./world";

const { interactions, genres } = createWorld({ users: 200, items: 600 });
const fixed = {
  dimensions: 16,
  regularization: 0.03,
  alpha: 0.2,
  epochs: 4,
  weighting: "linear",
  damping: 0,
  effort: "quick",
} as const;
const trained = (choices: object = {}, more: object = { neighbours: 0 }) =>
  trainG1({ interactions }, { ...fixed, ...more, ...choices });
const ids = (count: number) => Array.from({ length: count }, (_, at) => `${at}`);
const bytes = (model: G1Model) =>
  Buffer.concat([...encodeModel({ model, userIds: ids(model.users), itemIds: ids(model.items) })]);
const ascend = (figures: readonly (number | null | undefined)[]) => {
  expect(figures.every((figure) => figure != null)).toBe(true);
  expect(figures).toEqual([...figures].sort((a, b) => (a ?? 0) - (b ?? 0)));
  expect(figures.at(-1)).toBeGreaterThan(Number(figures[0]) + 0.05);
};
const steps = [0, 0.4, 0.7, 1];

test("exposure settings of 0 do not change a byte of the model", () => {
  expect(bytes(trained({ diversity: 0, popularityPenalty: 0 }))).toEqual(bytes(trained()));
});

test.each([{ neighbours: 0 }, { neighbours: 2, popularityExponent: 0.4 }])(
  "more diversity makes lists less similar, and a higher penalty makes them less popular: %j",
  (kind) => {
    const diverse = steps.map((diversity) => measureExposure(trained({ diversity }, kind)));
    ascend(diverse.map((exposure) => exposure?.diversity20));
    const penalized = steps.map((popularityPenalty) => measureExposure(trained({ popularityPenalty }, kind)));
    ascend(penalized.map((exposure) => exposure && 1 - exposure.shownPopularity20));
    ascend(penalized.map((exposure) => exposure?.coldItems20));
  },
);

test("reports the quality of the items that are shown", () => {
  const plain = trained();
  for (const choice of [{ diversity: 1 }, { popularityPenalty: 1 }]) {
    const shown = trained(choice);
    expect(shown.report.quality?.ndcg20).toBeLessThan(Number(plain.report.quality?.ndcg20));
    expect(shown.itemVectors).toEqual(plain.itemVectors);
  }
});

test("a penalty lowers every score, including negative ones", () => {
  expect([2, 0, -2].map((score) => penalized(score, 0.5))).toEqual([1, 0, -4]);
});

test("keeps the order with penalties when many items are added after the training", () => {
  const records = genres.map((genre) => ({ genre: `g${genre}` }));
  const itemAttributes = { schema: null, records };
  const given = { ...fixed, neighbours: 0, popularityPenalty: 0.5 };
  const recommender = new Recommender(servable(trainG1({ interactions, itemAttributes }, given)));
  const preferences = recommender.preferencesOf(0);
  const known = recommender.scoresOf([0, 1], preferences);
  // More items than the memory was allocated for.
  const added = 2 * interactions.items;
  recommender.place(added, records[0]);
  expect(recommender.scoresOf([0, 1], preferences)).toEqual(known);
  expect(isPlaced(recommender.scoresOf([added], preferences)[0])).toBe(true);
});

test("learns a ranking with the penalty that is applied in service: a small one changes little, a large one much", () => {
  const timed = {
    ...interactions,
    time: Float64Array.from(interactions.index, (_, at) => (at * 7919) % 10_007),
  };
  const [plain, little, much] = [0, 0.02, 1].map((popularityPenalty) => {
    const { report } = trainG1({ interactions: timed }, { ...fixed, neighbours: 0, popularityPenalty });
    return report.ranking?.without;
  }) as [number, number, number];
  expect(plain).toBeGreaterThan(0.05);
  expect(Math.abs(little / plain - 1)).toBeLessThan(0.1);
  expect(much).toBeLessThan(plain * 0.9);
});

test("a shorter list is the beginning of a longer one, at every diversity", () => {
  const recommender = new Recommender(servable(trained({ diversity: 0.6, popularityPenalty: 0.3 })));
  const preferences = recommender.preferencesOf(0);
  const all = recommender.top(preferences, 150);
  expect(new Set(all).size).toBe(150);
  for (const limit of [1, 5, 20, 120])
    expect(recommender.top(preferences, limit)).toEqual(all.slice(0, limit));
});

test("recommends popular items to an unknown user in spite of a penalty", () => {
  const { itemUsers } = servable(trained()).learned;
  const recommender = new Recommender(servable(trained({ popularityPenalty: 1 })));
  const counts = recommender.top(null, 20).map((item) => itemUsers[item]);
  expect(counts).toEqual([...itemUsers].sort((a, b) => b - a).slice(0, 20));
});

test("removes a forgotten user from the penalties", () => {
  const recommender = new Recommender(servable(trained({ popularityPenalty: 1 })));
  const { start, index } = interactions;
  const own = [...index.subarray(start[0], start[1])];
  const item = own[0];
  const preferences = recommender.preferencesOf(1);
  const [before = 0] = recommender.scoresOf([item], preferences);
  const users = recommender.usersOf(item);
  recommender.unlearn(own);
  const [after = 0] = recommender.scoresOf([item], preferences);
  expect(Math.abs(after / before)).toBeCloseTo((users / (users - 1)) ** (before > 0 ? 0.5 : -0.5), 4);
});
