import { createRandom, InteractionsBuilder } from "../../../service/algorithms";
import { ItemTrends } from "../../../service/algorithms/training/item-trends";
import { isSignificantGain } from "../../../service/algorithms/training/paired-test";
import { learnRanking } from "../../../service/algorithms/training/ranker";
import { singleThread } from "../../../service/algorithms/training/team";

const DAY_MS = 86_400_000;

/** Users who choose random items at random times, so a ranking has nothing to learn. */
function withoutOrder(seed: number) {
  const random = createRandom(seed);
  const builder = new InteractionsBuilder();
  for (let user = 0; user < 60; user++)
    for (let event = 0; event < 8; event++) builder.add(user, random.below(40), 1, random.next() * DAY_MS);
  return builder.build(60, 40);
}

test("uses a ranking in at most one of twenty trainings if there is nothing to gain", () => {
  const trainings = 300;
  let taken = 0;
  for (let seed = 1; seed <= trainings; seed++) {
    const { ranking } = learnRanking({
      interactions: withoutOrder(seed),
      others: { pairs: null, recommendSeen: true },
      point: {
        dimensions: 4,
        balance: 8,
        strength: 0.3,
        regularizationExponent: 1,
        weighting: "log",
        damping: 0,
        neighbours: { share: 0, popularityExponent: 0.4, similarityExponent: 1 },
      },
      epochs: 2,
      given: {},
      attributes: null,
      records: [],
      team: singleThread,
      reportUsers: { isReporting: new Uint8Array(60), share: 0.1 },
    });
    if (ranking.weights.length > 0) taken++;
  }
  expect(taken / trainings).toBeLessThanOrEqual(0.05);
});

test("random differences are significant in 5 % of cases, in one direction or the other", () => {
  const random = createRandom(11);
  const share = (count: number, mean: number) => {
    let found = 0;
    for (let trial = 0; trial < 4000; trial++)
      if (isSignificantGain(Array.from({ length: count }, () => mean + random.normal()))) found++;
    return found / 4000;
  };
  for (const count of [8, 25, 100]) expect(Math.abs(share(count, 0) - 0.025)).toBeLessThan(0.008);
  expect(share(100, 0.5)).toBeGreaterThan(0.99);
  expect(isSignificantGain([])).toBe(false);
  expect(isSignificantGain([0.1])).toBe(false);
  expect(isSignificantGain([0, 0, 0])).toBe(false);
});

test("recent popularity and age are those that were known at the time of a choice", () => {
  const builder = new InteractionsBuilder();
  // Item 0 is chosen early, item 1 late; the last fifth of the pairs takes five days.
  for (let user = 0; user < 5; user++) {
    builder.add(user, 0, 1, user * DAY_MS);
    builder.add(user, 1, 1, (10 + user) * DAY_MS);
  }
  const trends = new ItemTrends(builder.build(5, 3));
  trends.moveTo(4 * DAY_MS);
  const early = [trends.lateOf(0), trends.lateOf(1), trends.ageOf(0), trends.ageOf(1)];
  const half = 1;
  expect(early[0]).toBeCloseTo([0, 1, 2, 3].reduce((sum, day) => sum + 2 ** ((day - 4) / half), 0));
  expect(early.slice(1)).toEqual([0, expect.closeTo(Math.log1p(4)), 0]);
  trends.moveTo(Number.POSITIVE_INFINITY);
  expect(trends.lateOf(1)).toBeCloseTo([10, 11, 12, 13, 14].reduce((sum, day) => sum + 2 ** (day - 14), 0));
  expect(trends.ageOf(0)).toBeCloseTo(Math.log1p(14));
  expect([trends.lateOf(2), trends.ageOf(2)]).toEqual([0, 0]);
});
