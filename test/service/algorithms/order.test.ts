import fc from "fast-check";
import { InteractionsBuilder, selectUsers, servable, stepsOf, trainG1 } from "../../../service/algorithms";
import { Recommender } from "../../../service/algorithms/inference/recommender";
import { itemCounts, rowOf } from "../../../service/algorithms/interactions";
import { OrderBasis } from "../../../service/algorithms/order/basis";
import { OrderScores } from "../../../service/algorithms/order/order-scores";
import { LAST, type OrderRule, sequenceOf } from "../../../service/algorithms/order/rule";
import {
  pairsOfItem,
  subtractUser,
  type Transitions,
  transitionsOf,
  withoutEmpty,
} from "../../../service/algorithms/order/transitions";
import { chainItems, createChain } from "./chain";

const day = 86_400_000;
const rule: OrderRule = {
  scale: 2,
  distance: 6,
  opposite: 0.5,
  recency: 2,
  gapExponent: 0.5,
  typicalGap: 10,
  itemExponent: 0.3,
  popularityExponent: 0.2,
  firstTime: 0,
  timeStep: 1,
};

/** Users with items at different times: a list of [item, time] for each user. */
const histories = fc.array(
  fc.uniqueArray(fc.tuple(fc.nat(19), fc.nat(50)), {
    selector: ([item]) => item,
    maxLength: 12,
  }),
  { minLength: 1, maxLength: 8 },
);

function interactionsOf(users: readonly (readonly (readonly [item: number, time: number])[])[]) {
  const builder = new InteractionsBuilder();
  users.forEach((own, user) => {
    for (const [item, time] of own) builder.add(user, item, 1, time);
  });
  // Another user keeps the times when all others are equal.
  builder.add(users.length, 20, 1, 0);
  builder.add(users.length, 21, 1, 60);
  return builder.build(users.length + 1, 22);
}

/** Counts all pairs in the simplest way. Returns the amount of each pair of items. */
function naive(users: readonly (readonly (readonly [item: number, time: number])[])[]) {
  const amounts = new Map<string, number>();
  const add = (from: number, to: number, weight: number) => {
    const amount = Math.round(weight * 1024);
    if (amount > 0) amounts.set(`${from} ${to}`, (amounts.get(`${from} ${to}`) ?? 0) + amount);
  };
  for (const own of users) {
    const items = own.map(([item]) => item);
    const times = own.map(([, time]) => time);
    const { items: latest } = sequenceOf(rule, items, times);
    const timeOf = new Map(own);
    latest.forEach((later, a) => {
      latest.forEach((earlier, b) => {
        if (b <= a || b - a > LAST) return;
        const gap = (timeOf.get(later) ?? 0) - (timeOf.get(earlier) ?? 0);
        const weight = Math.exp(-(b - a - 1) / 6) / Math.sqrt(1 + gap / 10);
        add(earlier, later, gap === 0 ? 0.75 * weight : weight);
        add(later, earlier, gap === 0 ? 0.75 * weight : 0.5 * weight);
      });
    });
  }
  return amounts;
}

function entriesOf({ start, index, amount }: Transitions): Map<string, number> {
  const entries = new Map<string, number>();
  for (let item = 0; item + 1 < start.length; item++)
    for (let at = start[item]; at < start[item + 1]; at++) entries.set(`${item} ${index[at]}`, amount[at]);
  return entries;
}

const withLast = (users: Parameters<typeof naive>[0]) => [...users, [[20, 0] as const, [21, 60] as const]];

test("the table has the same amounts as counting every pair of every user", () => {
  fc.assert(
    fc.property(histories, (users) => {
      const of = interactionsOf(users);
      const table = transitionsOf(of, stepsOf(of, rule), rule);
      expect(entriesOf(table)).toEqual(naive(withLast(users)));
    }),
  );
});

test("subtracting a user gives the table without this user, and no trace of pairs that only this user had", () => {
  fc.assert(
    fc.property(histories, (users) => {
      const of = interactionsOf(users);
      const steps = stepsOf(of, rule);
      const table = transitionsOf(of, steps, rule);
      subtractUser(table, rule, rowOf(of, 0), steps.subarray(0, of.start[1]));
      expect(entriesOf(withoutEmpty(table))).toEqual(naive(withLast(users.slice(1))));
    }),
  );
});

test("the score of an item is the sum over the last items, with less weight for items and for times further back", () => {
  fc.assert(
    fc.property(histories, (users) => {
      const of = interactionsOf(users);
      const steps = stepsOf(of, rule);
      const counts = itemCounts(of);
      const order = new OrderScores(rule, transitionsOf(of, steps, rule), counts);
      const amounts = naive(withLast(users));
      const sequence = sequenceOf(rule, rowOf(of, 0), steps.subarray(0, of.start[1]));
      const timeOf = new Map(users[0]);
      const scores = new Float32Array(of.items);
      order.add(scores, sequence);
      const last = timeOf.get(sequence.items[0] ?? -1) ?? 0;
      const expected = Array.from(scores, (_, to) =>
        Array.from(sequence.items, (from, age) => {
          const recency = Math.exp(-age / 2) / Math.sqrt(1 + (last - (timeOf.get(from) ?? 0)) / 10);
          const popularity = counts[from] ** -0.3 * Math.max(1, counts[to]) ** -0.2;
          return 2 * recency * popularity * (amounts.get(`${from} ${to}`) ?? 0);
        }).reduce((sum, one) => sum + one, 0),
      );
      scores.forEach((score, item) => {
        expect(score / (1 + expected[item])).toBeCloseTo(expected[item] / (1 + expected[item]), 4);
      });
      const parts = order.contributions(sequence, [3, 7]);
      for (const [at, item] of [3, 7].entries())
        expect(parts.reduce((sum, part) => sum + part[at], 0) / (1 + scores[item])).toBeCloseTo(
          scores[item] / (1 + scores[item]),
          4,
        );
    }),
  );
});

test("an item keeps its highest pairs only, and fewer of them if there are very many items", () => {
  expect([pairsOfItem(100), pairsOfItem(1_000_000)]).toEqual([128, 8]);
  const builder = new InteractionsBuilder();
  const most = pairsOfItem(301);
  // Item 0 is followed by 300 items: the first ones twice, the others once.
  for (let user = 0; user < 300; user++) {
    const isTwice = user < 100;
    for (const copy of isTwice ? [0, 1] : [0]) {
      builder.add(2 * user + copy, 0, 1, 0);
      builder.add(2 * user + copy, user + 1, 1, 5);
    }
  }
  const of = builder.build(600, 301);
  const flat = { ...rule, popularityExponent: 0 };
  const { start, index } = transitionsOf(of, stepsOf(of, flat), flat);
  const kept = index.subarray(start[0], start[1]);
  expect(kept).toHaveLength(most);
  expect([...kept].filter((item) => item <= 100)).toHaveLength(100);
});

const given = { dimensions: 8, regularization: 0.05, alpha: 0.1, epochs: 3, neighbours: 0 } as const;
const chain = createChain();

describe("a training", () => {
  const model = trainG1({ interactions: chain }, given);
  const recommender = new Recommender(servable(model));
  const at = (item: number, time: number) => ({ item, weight: 1, time: time * day });

  test("uses the order if users choose what follows their last item, and reports the gain", () => {
    const without = trainG1({ interactions: chain }, { ...given, order: 0 });
    expect(without.order).toBeUndefined();
    expect(model.parameters.order).toBeGreaterThan(0);
    expect(model.report.quality?.ndcg20).toBeGreaterThan(1.3 * (without.report.quality?.ndcg20 ?? 1));
  });

  test("ignores random times, equal times and missing times", () => {
    const random = createChain({ inOrder: false });
    const shuffled = trainG1({ interactions: random }, given);
    expect(shuffled.order).toBeUndefined();
    expect(shuffled).toEqual(trainG1({ interactions: random }, { ...given, order: 0 }));
    const builder = new InteractionsBuilder();
    for (let user = 0; user < chain.users; user++)
      for (const item of rowOf(chain, user)) builder.add(user, item, 1, 5);
    const equal = trainG1({ interactions: builder.build(chain.users, chainItems) }, given);
    expect(equal).toEqual(trainG1({ interactions: { ...chain, time: undefined } }, given));
    expect(equal.order).toBeUndefined();
  });

  test("uses the weight that the caller sets", () => {
    const { parameters } = trainG1({ interactions: chain }, { ...given, order: 3 });
    expect(parameters.order).toBe(3);
  });

  test("recommends what follows the last event of a user, so a new event changes the first item", () => {
    const first = (...own: ReturnType<typeof at>[]) => {
      const had = own.map(({ item }) => item);
      return recommender.top(recommender.preferencesFromItems(own), 1, had)[0];
    };
    expect(first(at(10, 1))).toBe(11);
    expect(first(at(10, 1), at(30, 2))).toBe(31);
    expect(first(at(30, 1), at(10, 2))).toBe(11);
  });

  test("a user without new events gets the same scores from the trained and the current events", () => {
    const times = chain.time as Float64Array;
    const [from, to] = [chain.start[7], chain.start[8]];
    const own = Array.from(chain.index.subarray(from, to), (item, place) => ({
      item,
      weight: 1,
      time: times[from + place],
    }));
    expect(recommender.preferencesFromItems(own, 7)).toEqual({ ...recommender.preferencesOf(7), chosen: [] });
  });

  test("the contributions of a user's items add up to the score, and the last item explains the first result", () => {
    const own = [at(3, 1), at(20, 2), at(41, 3)];
    const preferences = recommender.preferencesFromItems(own);
    const targets = recommender.top(preferences, 5, [3, 20, 41]);
    const parts = recommender.explain(own, targets);
    const sums = targets.map((_, place) =>
      parts.reduce(
        (sum, { vectors, neighbours, order }) => sum + vectors[place] + neighbours[place] + order[place],
        0,
      ),
    );
    recommender.scoresOf(targets, preferences).forEach((score, place) => {
      expect(sums[place]).toBeCloseTo(score, 4);
    });
    expect(targets[0]).toBe(42);
    const byOrder = parts.map(({ item, order }) => [item, order[0]] as const).sort((a, b) => b[1] - a[1]);
    expect(byOrder[0]?.[0]).toBe(41);
  });

  test("a forgotten user no longer counts in the scores by order", () => {
    const forgetful = new Recommender(servable(model));
    const scoresBy = (one: Recommender) => {
      const scores = new Float32Array(chainItems);
      one.order?.add(scores, {
        items: Uint32Array.from({ length: chainItems }, (_, item) => item),
        weights: new Float32Array(chainItems).fill(1),
      });
      return scores;
    };
    const steps = stepsOf(chain, (model.order as NonNullable<typeof model.order>).rule);
    for (let user = 0; user < 50; user++) {
      forgetful.forget(user);
      forgetful.unlearn([...rowOf(chain, user)], steps.subarray(chain.start[user], chain.start[user + 1]));
    }
    const others = selectUsers(
      chain,
      Uint32Array.from({ length: 250 }, (_, at) => at + 50),
    );
    const { rule: learned } = model.order as NonNullable<typeof model.order>;
    const table = transitionsOf(others, stepsOf(others, learned), learned);
    const expected = new Float32Array(chainItems);
    new OrderScores(learned, table, itemCounts(chain)).add(expected, {
      items: Uint32Array.from({ length: chainItems }, (_, item) => item),
      weights: new Float32Array(chainItems).fill(1),
    });
    expect(scoresBy(forgetful)).toEqual(expected);
    expect(scoresBy(recommender)).not.toEqual(expected);
    expect(forgetful.preferencesOf(7)).toBeNull();
  });
});

test("the scale makes the best score of a user 1 on average", () => {
  const basis = new OrderBasis({ ...chain, time: chain.time as Float64Array }, itemCounts(chain));
  const setting = { share: 1, recency: 2, gapExponent: 0, popularityExponent: 0.2 };
  const own = basis.rule(setting);
  const order = basis.scores(own);
  let sum = 0;
  for (let user = 0; user < chain.users; user++) {
    const scores = new Float32Array(chainItems);
    order.add(scores, basis.sequence(own, user));
    for (const item of rowOf(chain, user)) scores[item] = 0;
    sum += Math.max(...scores);
  }
  expect(sum / chain.users).toBeGreaterThan(0.9);
  expect(sum / chain.users).toBeLessThan(1.1);
  expect(own.typicalGap).toBe(day);
});
