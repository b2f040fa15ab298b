import {
  InteractionsBuilder,
  NotEnoughEventsError,
  Recommender,
  servable,
  type TrainingProgress,
  trainG1,
} from "../../../service/algorithms";
import { itemCounts } from "../../../service/algorithms/interactions";
import { createRandom } from "../../../service/algorithms/random";
import { topIndices } from "../../../service/algorithms/top";
import { type Budget, efforts } from "../../../service/algorithms/training/effort";
import { evaluate, measure } from "../../../service/algorithms/training/evaluation";
import type { Point } from "../../../service/algorithms/training/point";
import { searchParameters } from "../../../service/algorithms/training/search";
import { TrialBench } from "../../../service/algorithms/training/trial";
import { createWorld, hideSome } from "./world";

describe("choosing parameters", () => {
  const world = createWorld({ users: 200, items: 150 });
  const divided = hideSome(world.interactions);
  const progress: TrainingProgress[] = [];
  const model = trainG1({ interactions: divided.train }, {}, (step) => progress.push(step));

  test("without given parameters, beats popularity by far on hidden items", () => {
    const recommender = new Recommender(servable(model));
    const users = Array.from({ length: world.interactions.users }, (_, user) => user);
    const counts = Float32Array.from(itemCounts(divided.train));
    const scoresOf = (user: number) => {
      const scores = new Float32Array(model.items);
      recommender.top(recommender.preferencesOf(user), 100).forEach((item, rank) => {
        scores[item] = 1000 - rank;
      });
      return scores;
    };
    const learned = evaluate(divided, users, scoresOf);
    const popular = evaluate(divided, users, () => counts.slice());
    expect(learned.ndcg20).toBeGreaterThan(1.5 * popular.ndcg20);
    expect(learned.recall20).toBeGreaterThan(1.5 * popular.recall20);
  });

  test("reports the chosen parameters, the quality, and that of popularity", () => {
    expect(model.report.trials).toBeGreaterThan(5);
    expect(model.report.quality?.ndcg20).toBeGreaterThan(1.3 * (model.report.popularity?.ndcg20 ?? 1));
    expect(model.parameters.regularization).toBeGreaterThan(0);
    expect(model.parameters.alpha).toBeGreaterThan(0);
  });

  test("reports the number of held-out pairs and users", () => {
    const { heldOut } = model.report;
    expect(heldOut.users).toBe(world.interactions.users / 2);
    expect(heldOut.pairs).toBeGreaterThan(heldOut.users);
    expect(heldOut.pairs).toBeLessThan(divided.train.index.length);
    const builder = new InteractionsBuilder();
    for (const [user, item] of [
      [0, 0],
      [0, 1],
      [1, 0],
    ] as const)
      builder.add(user, item, 1);
    expect(trainG1({ interactions: builder.build() }).report.heldOut).toEqual({
      kind: "random",
      pairs: 1,
      users: 1,
    });
    const lone = new InteractionsBuilder();
    lone.add(0, 0, 1);
    expect(trainG1({ interactions: lone.build() }).report).toMatchObject({
      quality: null,
      heldOut: { pairs: 0, users: 0 },
    });
  });

  test("progress goes through the phases and ends at 1 in each", () => {
    expect([...new Set(progress.map(({ phase }) => phase))]).toEqual(["search", "train", "attributes"]);
    for (const phase of ["search", "train", "attributes"]) {
      const fractions = progress.filter((step) => step.phase === phase).map(({ fraction }) => fraction);
      expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
      expect(fractions.at(-1)).toBe(1);
    }
  });

  const small = createWorld({ users: 60, items: 50 }).interactions;
  const smallModel = trainG1({ interactions: small });

  test("the same data gives the same model", () => {
    expect(trainG1({ interactions: small })).toEqual(smallModel);
  });

  test("does not depend on the scale of event values", () => {
    const builder = new InteractionsBuilder();
    const { start, index, weight, users, items } = small;
    for (let user = 0; user < users; user++) {
      for (let at = start[user]; at < start[user + 1]; at++) {
        builder.add(user, index[at], weight[at] * 1024);
      }
    }
    const scaled = trainG1({ interactions: builder.build(users, items) });
    expect(scaled.parameters).toEqual(smallModel.parameters);
  });
});

const given = {
  effort: "balanced" as const,
  dimensions: 10,
  regularization: 0.03,
  alpha: 0.4,
  regularizationExponent: 0.9,
  epochs: 3,
  weighting: "log" as const,
  damping: 0.3,
  neighbours: 0.5,
  popularityExponent: 0.3,
};

test("uses given parameters, and chooses only the missing ones", () => {
  const { interactions } = createWorld({ users: 100, items: 80 });
  const model = trainG1({ interactions }, given);
  expect(model.parameters).toEqual(given);
  expect(model.report.trials).toBeLessThanOrEqual(2);
  expect(model.report.quality).not.toBeNull();
  expect(model.userVectors).toHaveLength(100 * model.stride);
  const partly = trainG1({ interactions }, { alpha: 0.4 });
  expect(partly.parameters.alpha).toBe(0.4);
  expect(partly.report.trials).toBeGreaterThan(3);
});

test("uses a given similarity exponent, and 1 if only the other parameters of neighbours are given", () => {
  const { interactions } = createWorld({ users: 100, items: 80 });
  const sharper = trainG1({ interactions }, { ...given, similarityExponent: 1.5 });
  expect(sharper.parameters).toEqual({ ...given, similarityExponent: 1.5 });
  expect(sharper.neighbours?.similarityExponent).toBe(1.5);
  const linear = trainG1({ interactions }, given);
  expect(linear.neighbours).not.toHaveProperty("similarityExponent");
  expect(linear).toEqual(trainG1({ interactions }, { ...given, similarityExponent: 1 }));
});

test("a higher effort tries more, and the model names its effort", () => {
  const { interactions } = createWorld({ users: 60, items: 50 });
  const [quick, balanced] = [trainG1({ interactions }, { effort: "quick" }), trainG1({ interactions })];
  expect([quick.parameters.effort, balanced.parameters.effort]).toEqual(["quick", "balanced"]);
  expect(quick.report.trials).toBeLessThan(balanced.report.trials);
});

test("every limit grows with the effort", () => {
  const { quick, balanced, thorough } = efforts;
  const numbers = ({ pairs, sparsePairs, folds, foldedPairs, users, ...more }: Budget) => [
    ...[
      pairs,
      sparsePairs,
      folds,
      foldedPairs,
      users,
      more.scores,
      more.neighbourPairs,
      more.multiplications,
    ],
    ...[Math.max(...more.dimensions)],
  ];
  const ascending = [quick, balanced, thorough].map(numbers);
  ascending[0]?.forEach((value, at) => {
    expect(value).toBeLessThan(ascending[1]?.[at]);
    expect(ascending[1]?.[at]).toBeLessThan(ascending[2]?.[at]);
  });
});

test("chooses vectors as long as the data allows", () => {
  const chosen = (users: number, items: number) => {
    const { interactions } = createWorld({ users, items });
    const { dimensions: _, ...others } = given;
    return trainG1({ interactions }, { ...others, regularizationExponent: 1, damping: 0 }).parameters;
  };
  expect(chosen(520, 515).dimensions).toBe(128);
  expect(chosen(300, 260).dimensions).toBe(64);
  expect(chosen(150, 120).dimensions).toBe(32);
});

test("regularizes the final training a tenth less than the last trial", () => {
  const tried = jest.spyOn(TrialBench.prototype, "trace");
  const { interactions } = createWorld({ users: 60, items: 50 });
  const { point } = searchParameters(interactions, {}, () => undefined);
  const [last] = tried.mock.calls.at(-1) as [Point, ...unknown[]];
  tried.mockRestore();
  expect(point).toEqual({ ...last, strength: expect.closeTo(0.9 * last.strength) });
});

test("lowers the weight of active users if their choices are random, but not if all users are alike", () => {
  const { interactions } = createWorld({ users: 600, items: 200 });
  const alike = new InteractionsBuilder();
  for (let user = 0; user < 600; user++) {
    const own = interactions.index.subarray(interactions.start[user], interactions.start[user + 1]);
    for (const item of own.subarray(0, 10)) alike.add(user, item, 1);
  }
  expect(trainG1({ interactions: alike.build(600, 200) }, { dimensions: 16 }).parameters.damping).toBe(0);
  const builder = new InteractionsBuilder();
  for (let user = 0; user < 300; user++) {
    const own = interactions.index.subarray(interactions.start[user], interactions.start[user + 1]);
    for (const item of own) builder.add(user, item, 1);
  }
  const random = createRandom(7);
  for (let user = 300; user < 400; user++) {
    for (let event = 0; event < 150; event++) builder.add(user, random.below(200), 1);
  }
  const crowded = builder.build(400, 200);
  expect(trainG1({ interactions: crowded }, { dimensions: 16 }).parameters.damping).toBeGreaterThan(0);
});

test("a larger event value moves a user further towards the item", () => {
  const { interactions } = createWorld({ users: 100, items: 80 });
  const parameters = { dimensions: 16, weighting: "linear" as const, alpha: 0.3, regularization: 0.02 };
  const scoreWith = (weight: number) => {
    const of = {
      ...interactions,
      weight: interactions.weight.map((value, at) => (at === 0 ? weight : value)),
    };
    const { userVectors, itemVectors, stride } = trainG1({ interactions: of }, parameters);
    const item = interactions.index[0];
    let score = 0;
    for (let k = 0; k < stride; k++) score += userVectors[k] * itemVectors[item * stride + k];
    return score;
  };
  expect(scoreWith(20)).toBeGreaterThan(scoreWith(0.1));
});

test("fails with a typed error if there are no events", () => {
  expect(() => trainG1({ interactions: new InteractionsBuilder().build(3, 3) })).toThrow(
    NotEnoughEventsError,
  );
  expect(() => trainG1({ interactions: new InteractionsBuilder().build() })).toThrow("not enough events");
});

test.each([1, 2, 5])("%i events are enough for a model with finite numbers", (events) => {
  const builder = new InteractionsBuilder();
  for (let event = 0; event < events; event++) builder.add(event % 3, (event * 2) % 4, 1);
  const model = trainG1({ interactions: builder.build(3, 4) });
  expect([...model.userVectors, ...model.itemVectors].every(Number.isFinite)).toBe(true);
  const recommender = new Recommender(servable(model));
  expect(recommender.top(recommender.preferencesOf(0), 4).sort()).toEqual([0, 1, 2, 3]);
  expect(
    Object.values(model.parameters).every((value) => typeof value === "string" || Number.isFinite(value)),
  ).toBe(true);
});

test("too much regularization gives zero vectors, not NaN", () => {
  const { interactions } = createWorld({ users: 50, items: 40 });
  const model = trainG1({ interactions }, { regularization: 100 });
  expect(model.userVectors.every((value) => value === 0)).toBe(true);
  const recommender = new Recommender(servable(model));
  const counts = itemCounts(interactions);
  expect(recommender.top(recommender.preferencesOf(0), 3)).toEqual(topIndices(counts, 3));
});

test("measures recall and NDCG of one list", () => {
  expect(measure([4, 5], Uint32Array.of(4))).toEqual({ recall20: 1, ndcg20: 1 });
  expect(measure([5, 4], Uint32Array.of(4, 9)).recall20).toBe(0.5);
  expect(measure([], Uint32Array.of(4))).toEqual({ recall20: 0, ndcg20: 0 });
});
