import { isPlaced, type ServableModel, servable, trainG1, weighed } from "../../../service/algorithms";
import { allocateMarks, BLOCK } from "../../../service/algorithms/blocks";
import { Recommender } from "../../../service/algorithms/inference/recommender";
import { isSearchWorthwhile, RoughSearch } from "../../../service/algorithms/inference/rough-search";
import { dot, norm } from "../../../service/algorithms/linear-algebra";
import { createRandom } from "../../../service/algorithms/random";
import { topAmong, topIndices } from "../../../service/algorithms/top";
import { createWorld } from "./world";

const random = createRandom(5);

/** Vectors of very different lengths, some of them zero and some of them equal. */
function vectorsOf(items: number, stride: number): Float32Array {
  const vectors = new Float32Array(items * stride);
  for (let item = 0; item < items; item++) {
    const length = item % 11 === 0 ? 0 : 10 ** (2 * random.next() - 2);
    for (let k = 0; k < stride; k++) vectors[item * stride + k] = length * random.normal();
    if (item % 7 === 6) vectors.copyWithin(item * stride, (item - 1) * stride, item * stride);
  }
  return vectors;
}

test.each([
  [8, 1000],
  [64, 500],
  [128, 300],
  [16, 20_001],
  [64, 6001],
])("contains all of the highest items, with vectors of length %i, of %i items", (stride, items) => {
  const vectors = vectorsOf(items, stride);
  const search = RoughSearch.of(vectors, items, stride);
  for (let trial = 0; trial < 50; trial++) {
    const vector = Float32Array.from({ length: stride }, () => random.normal() * 10 ** (trial % 3));
    const added = Float32Array.from({ length: items }, (_, item) =>
      trial % 2 === 0 ? 0 : item % 5 === 0 ? Number.NEGATIVE_INFINITY : 3 * random.next(),
    );
    const scores = added.map((extra, item) => {
      const own = vectors.subarray(item * stride, (item + 1) * stride);
      return norm(own) > 0 ? extra + dot(vector, own) : Number.NEGATIVE_INFINITY;
    });
    search.added.set(added);
    const raised = allocateMarks(items);
    added.forEach((extra, item) => {
      if (extra > 0) raised[Math.floor(item / BLOCK)] = 1;
    });
    const found = search.find(vector, items, 20, raised);
    const highest = topIndices(scores, 20);
    expect(found).toEqual(expect.arrayContaining(highest));
    expect(found.some((item) => added[item] === Number.NEGATIVE_INFINITY)).toBe(false);
  }
  // The memory has room for more items.
  search.added.fill(0);
  const isZero = (item: number) => norm(vectors.subarray(item * stride, (item + 1) * stride)) === 0;
  const placed = Array.from({ length: items }, (_, item) => item).filter((item) => !isZero(item));
  expect(search.find(vectors.subarray(0, stride), items, 2 * items)).toEqual(placed);
});

test.each([
  [8, 1000],
  [64, 6001],
  [128, 300],
])("contains all of the closest items, with vectors of length %i, of %i items", (stride, items) => {
  const vectors = vectorsOf(items, stride);
  const search = RoughSearch.of(vectors, items, stride);
  for (let trial = 0; trial < 20; trial++) {
    const near = Math.floor(items * random.next()) * stride;
    const away = 10 ** (trial % 4) / 100;
    const direction = Float32Array.from(
      { length: stride },
      (_, k) => (vectors[near + k] as number) + away * random.normal(),
    );
    const cosines = Float32Array.from({ length: items }, (_, item) => {
      const vector = vectors.subarray(item * stride, (item + 1) * stride);
      const isLeftOut = trial % 2 === 1 && item % 5 === 0;
      return isLeftOut || norm(vector) === 0
        ? Number.NEGATIVE_INFINITY
        : dot(direction, vector) / norm(vector);
    });
    for (const count of [1, 20, items]) {
      search.added.fill(0);
      if (trial % 2 === 1) for (let item = 0; item < items; item += 5) search.added[item] = -Infinity;
      const found = new Set(search.findClosest(direction, items, count));
      expect(topIndices(cosines, count).filter((item) => !found.has(item))).toEqual([]);
      expect([...found].filter((item) => cosines[item] === Number.NEGATIVE_INFINITY)).toEqual([]);
    }
  }
});

test("leaves out most items", () => {
  const [items, stride] = [20_000, 64];
  const search = RoughSearch.of(vectorsOf(items, stride), items, stride);
  const vector = Float32Array.from({ length: stride }, () => random.normal());
  expect(search.find(vector, items, 20).length).toBeLessThan(400);
  search.added.fill(0);
  expect(search.findClosest(vector, items, 20).length).toBeLessThan(400);
});

describe("a recommender with many items", () => {
  const { interactions } = createWorld({ users: 500, items: 4200, eventsPerUser: 40 });
  const parameters = { dimensions: 64, regularization: 0.05, alpha: 0.1, epochs: 2 };
  const models = [0, 1].map((neighbours) =>
    servable(trainG1({ interactions }, { ...parameters, neighbours })),
  ) as [ServableModel, ServableModel];

  test.each([0, 1])(
    "returns the same lists and scores as sorting the scores of all items, with neighbours %i",
    (at) => {
      const recommender = new Recommender(models[at] as ServableModel);
      expect(isSearchWorthwhile(recommender.items, recommender.model.stride)).toBe(true);
      const everything = Array.from({ length: recommender.items }, (_, item) => item);
      // So few that only their scores are computed, and a number that only a filter knows.
      const few = Uint32Array.from([...everything.filter((item) => item % 9 === 0), recommender.items + 1]);
      const compare = (limit: number) => {
        for (let user = 0; user < 60; user++) {
          const preferences = recommender.preferencesOf(user);
          const own = interactions.index.subarray(interactions.start[user], interactions.start[user + 1]);
          const found = recommender.candidates(preferences, limit, own);
          const exact = recommender.foundScores(found);
          const scores = recommender.scoresOf(everything, preferences);
          for (const item of own) scores[item] = Number.NEGATIVE_INFINITY;
          expect(found).toEqual(topIndices(scores, limit));
          expect(exact).toEqual(found.map((item) => scores[item]));
          const among = recommender.candidates(preferences, limit, own, { among: few });
          expect(recommender.foundScores(among)).toEqual(among.map((item) => scores[item]));
          expect(among).toEqual(topAmong(scores, few, limit));
        }
      };
      compare(1);
      compare(20);
      compare(4100);
      // Also after items without vectors were added, and after users were forgotten.
      for (let item = 4200; item < 5000; item++) recommender.place(item, undefined);
      recommender.forget(70);
      recommender.unlearn([...interactions.index.subarray(interactions.start[70], interactions.start[71])]);
      compare(20);
    },
  );

  test("returns the same similar items as a comparison with all items, with and without a filter", () => {
    const recommender = new Recommender(models[1]);
    const { stride, items } = recommender.model;
    const few = Uint32Array.from({ length: 200 }, (_, at) => 17 * at);
    const compare = (limit: number, to: readonly number[], exclude: readonly number[]) => {
      const vector = new Float32Array(stride);
      for (const item of to) {
        const own = recommender.vectorOf(item);
        own.forEach((value, k) => {
          vector[k] = (vector[k] as number) + value / (norm(own) || 1);
        });
      }
      const cosines = recommender.scores({ vector, chosen: [] }).map((product, item) => {
        const length = Math.fround(norm(recommender.vectorOf(item)));
        return isPlaced(product) ? product / (length || 1) : product;
      });
      for (const item of exclude) cosines[item] = Number.NEGATIVE_INFINITY;
      const found = recommender.similarity.best(to, limit, exclude);
      expect(recommender.foundScores(found)).toEqual(found.map((item) => cosines[item]));
      expect(found).toEqual(topIndices(cosines, limit));
      const among = recommender.similarity.best(to, limit, exclude, { among: few });
      expect(among).toEqual(topAmong(cosines, few, limit));
      const weights = [{ items: few, factor: 2 }];
      for (const item of few) cosines[item] = weighed(cosines[item] as number, 2);
      for (const item of exclude) cosines[item] = Number.NEGATIVE_INFINITY;
      const preferred = recommender.similarity.best(to, limit, exclude, { weights });
      expect(preferred).toEqual(topIndices(cosines, limit));
    };
    const compareAll = () => {
      for (let item = 0; item < items; item += 61) {
        compare(1, [item], [item]);
        compare(200, [item], [item, 5]);
        compare(20, [item, (item * 31) % items], []);
      }
      compare(items - 1, [3], [3]);
      compare(recommender.items, [3], []);
    };
    compareAll();
    for (let item = items; item < items + 800; item++) recommender.place(item, undefined);
    recommender.forget(70);
    recommender.unlearn([...interactions.index.subarray(interactions.start[70], interactions.start[71])]);
    compareAll();
  });
});
