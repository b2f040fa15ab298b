import { type Interactions, itemCounts, Recommender, servable, trainG1 } from "../../../service/algorithms";
import { FoldIn } from "../../../service/algorithms/inference/fold-in";
import { measure } from "../../../service/algorithms/training/evaluation";
import { singleThread } from "../../../service/algorithms/training/team";
import { createWorld, hideSome } from "./world";

const { train, test: hidden } = hideSome(createWorld({ users: 900, items: 250 }).interactions);
const given = { dimensions: 16, epochs: 6, neighbours: 0, effort: "quick" } as const;
const learn = (mostPairs: number) =>
  trainG1({ interactions: train }, given, undefined, singleThread, mostPairs);
const pairs = train.index.length;
const all = learn(pairs);
const some = learn(Math.ceil(pairs / 3));
const rowOf = ({ start, index }: Interactions, user: number) => index.subarray(start[user], start[user + 1]);

test("learns items from some of the users above a limit of pairs, and reports how many", () => {
  expect(all.report.learnedOn).toBeUndefined();
  const { users = 0, of } = some.report.learnedOn ?? {};
  expect(of).toBe(900);
  expect(users).toBeGreaterThanOrEqual(300);
  expect(users).toBeLessThan(450);
  expect(learn(Math.ceil(pairs / 3)).itemVectors).toEqual(some.itemVectors);
  expect(some.itemVectors).not.toEqual(all.itemVectors);
});

test("gives every user the folded-in vector, and every chosen item a vector", () => {
  const { stride, userVectors, itemVectors } = some;
  const folding = new FoldIn(servable(some));
  for (let user = 0; user < 900; user += 7) {
    const from = train.start[user];
    const items = Array.from(rowOf(train, user), (item, at) => ({
      item,
      weight: train.weight[from + at],
    }));
    const own = userVectors.subarray(user * stride, (user + 1) * stride);
    folding.solve(items)?.forEach((value, k) => {
      expect(own[k]).toBeCloseTo(value, 4);
    });
  }
  itemCounts(train).forEach((count, item) => {
    const vector = itemVectors.subarray(item * stride, (item + 1) * stride);
    expect(vector.some((value) => value !== 0)).toBe(count > 0);
  });
});

test("learning from a third of the users is nearly as good as learning from all", () => {
  const [whole, part] = [all, some].map((model) => {
    const recommender = new Recommender(servable(model));
    const found = Array.from({ length: 900 }, (_, user) => {
      const list = recommender.top(recommender.preferencesOf(user), 20, rowOf(train, user));
      return measure(list, rowOf(hidden, user)).ndcg20;
    });
    return found.reduce((sum, value) => sum + value, 0) / 900;
  }) as [number, number];
  expect(part).toBeGreaterThan(whole * 0.93);
});
