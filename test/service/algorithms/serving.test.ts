import {
  type G1Model,
  itemCounts,
  type NeighbourRule,
  type Preferences,
  Recommender,
  servable,
  trainG1,
} from "../../../service/algorithms";
import { filterEntries } from "../../../service/algorithms/interactions";
import { createWorld } from "./world";

const { interactions } = createWorld({ users: 120, items: 90 });
const model = trainG1({ interactions }, { dimensions: 20, epochs: 5, neighbours: 0 });
const recommender = new Recommender(servable(model));

test("returns all items except the excluded ones", () => {
  const preferences = recommender.preferencesOf(3);
  const exclude = [1, 5, 80];
  const top = recommender.top(preferences, 90, exclude);
  expect(top).toHaveLength(87);
  expect(top.filter((item) => exclude.includes(item))).toEqual([]);
});

/** Dot product of the vectors of a user and an item. */
function product(of: G1Model, user: number, item: number): number {
  const { stride, userVectors, itemVectors } = of;
  const vector = userVectors.subarray(user * stride, (user + 1) * stride);
  return vector.reduce((sum, value, k) => sum + value * itemVectors[item * stride + k], 0);
}

function expectOrder(top: readonly number[], scoreOf: (item: number) => number): void {
  for (let rank = 1; rank < top.length; rank++) {
    expect(scoreOf(top[rank - 1])).toBeGreaterThanOrEqual(scoreOf(top[rank]) - 1e-5);
  }
}

test("the order follows the dot products of the vectors", () => {
  expectOrder(recommender.top(recommender.preferencesOf(7), 10), (item) => product(model, 7, item));
});

describe.each([1, 1.5])("a model with neighbours and similarity exponent %s", (similarityExponent) => {
  const given = { dimensions: 8, epochs: 4, regularization: 0.05, alpha: 0.3, neighbours: 2 };
  const neighboured = trainG1({ interactions }, { ...given, popularityExponent: 0.3, similarityExponent });
  const own = (user: number, { start, index } = interactions) => [
    ...index.subarray(start[user], start[user + 1]),
  ];
  /** The neighbour score by definition, with each of the four degrees. */
  const added = (items: readonly number[], item: number, of = interactions, counts = itemCounts(of)) => {
    const rule = neighboured.neighbours as NeighbourRule;
    let sum = 0;
    for (let user = 0; user < of.users; user++) {
      const others = own(user, of);
      if (!others.includes(item)) continue;
      let similarity = 0;
      for (const one of items.filter((one) => others.includes(one)))
        similarity += counts[one] ** -rule.itemExponent;
      const degrees = others.length ** -rule.userExponent * items.length ** -rule.damping;
      sum += (similarity * degrees) ** similarityExponent;
    }
    return rule.scale * sum * counts[item] ** -rule.popularityExponent;
  };

  test("adds the scores of similar users to the products of the vectors", () => {
    const served = new Recommender(servable(neighboured));
    const others = served.top(served.preferencesOf(7), 90, own(7));
    expectOrder(others, (item) => product(neighboured, 7, item) + added(own(7), item));
    expect(others).not.toEqual(recommender.top(recommender.preferencesOf(7), 90, own(7)));
    // On average, the best neighbour score of a user is the given share.
    const best = Array.from({ length: 120 }, (_, user) =>
      Math.max(...others.filter((item) => !own(user).includes(item)).map((item) => added(own(user), item))),
    );
    expect(best.reduce((sum, one) => sum + one, 0) / 120).toBeCloseTo(2, 0);
  });

  test("counts the events after the training", () => {
    const served = new Recommender(servable(neighboured));
    const items = [3, 40];
    const preferences = served.preferencesFromItems(
      items.map((item) => ({ item, weight: 1 })),
    ) as Preferences;
    const vectors = { ...neighboured, userVectors: preferences.vector };
    expectOrder(served.top(preferences, 90, items), (item) => product(vectors, 0, item) + added(items, item));
    expect(served.top(preferences, 20, items)).not.toEqual(
      served.top({ ...preferences, chosen: [] }, 20, items),
    );
  });

  test("uses a sample of the users if there are too many pairs", () => {
    const pairs = interactions.index.length;
    const served = new Recommender(servable(neighboured, Math.ceil(pairs / 3)));
    expect(served.model.learned.pairs?.index.length).toBeLessThan(pairs / 2);
    const some = filterEntries(interactions, (_, user) => user % 3 === 0);
    // A user who is not in the sample, with the items of the training.
    const items = own(7).map((item, at) => ({
      item,
      weight: interactions.weight[interactions.start[7] + at],
    }));
    const preferences = served.preferencesFromItems(items, 7) as Preferences;
    expect(preferences).toEqual({ vector: served.preferencesOf(7)?.vector, chosen: own(7) });
    const said = (item: number) => 3 * added(own(7), item, some, itemCounts(interactions));
    expectOrder(served.top(preferences, 90, own(7)), (item) => product(neighboured, 7, item) + said(item));
  });

  test("removes the influence of a forgotten user", () => {
    const served = new Recommender(servable(structuredClone(neighboured)));
    const gone = [5, 6, 7, 8, 9];
    for (const user of gone) served.forget(user);
    const kept = filterEntries(interactions, (_, user) => !gone.includes(user));
    const [item] = own(5) as [number];
    const preferences = served.preferencesFromItems([{ item, weight: 1 }]) as Preferences;
    const bare = { ...preferences, vector: new Float32Array(neighboured.stride) };
    const said = served.top(bare, 90, [item]).filter((other) => added([item], other, kept) > 0);
    // Items without a neighbour score come after the others.
    expect(served.top(bare, said.length, [item])).toEqual(said);
  });
});

test("a ranker reorders the candidates of a generator, with unknown ones last", () => {
  const ranker = new Recommender(servable(trainG1({ interactions }, { dimensions: 8, epochs: 4 })));
  const candidates = recommender.top(recommender.preferencesOf(9), 15);
  const reranked = ranker.rerank([500, ...candidates, 501], ranker.preferencesOf(9));
  expect(reranked.slice(-2)).toEqual([500, 501]);
  const own = ranker.top(ranker.preferencesOf(9), 90).filter((item) => candidates.includes(item));
  expect(reranked.slice(0, -2)).toEqual(own);
});

test("a user out of range has no vector, a folded-in user has one", () => {
  expect(recommender.preferencesOf(-1)).toBeNull();
  expect(recommender.preferencesOf(120)).toBeNull();
  expect(recommender.preferencesFromItems([{ item: 2, weight: 1 }])).not.toBeNull();
});
