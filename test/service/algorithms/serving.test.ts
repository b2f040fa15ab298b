import { Recommender, servable, trainG1 } from "../../../service/algorithms";
import { createWorld } from "./world";

const { interactions } = createWorld({ users: 120, items: 90 });
const model = trainG1({ interactions }, { dimensions: 20, epochs: 5 });
const recommender = new Recommender(servable(model));

test("excluded items never come, and all others do when asked for", () => {
  const vector = recommender.userVector(3);
  const exclude = [1, 5, 80];
  const top = recommender.top(vector, 90, exclude);
  expect(top).toHaveLength(87);
  expect(top.filter((item) => exclude.includes(item))).toEqual([]);
});

test("the order follows the dot products of the vectors", () => {
  const vector = recommender.userVector(7) as Float32Array;
  const dot = (item: number) =>
    vector.reduce((sum, value, k) => sum + value * (model.itemVectors[item * model.stride + k] as number), 0);
  const top = recommender.top(vector, 10);
  for (let rank = 1; rank < top.length; rank++) {
    expect(dot(top[rank - 1] as number)).toBeGreaterThanOrEqual(dot(top[rank] as number) - 1e-5);
  }
});

test("a ranker re-ranks the candidates of a generator and leaves unknown ones at the end", () => {
  const ranker = new Recommender(servable(trainG1({ interactions }, { dimensions: 8, epochs: 4 })));
  const candidates = recommender.top(recommender.userVector(9), 15);
  const reranked = ranker.rerank([500, ...candidates, 501], ranker.userVector(9));
  expect(reranked.slice(-2)).toEqual([500, 501]);
  const own = ranker.top(ranker.userVector(9), 90).filter((item) => candidates.includes(item));
  expect(reranked.slice(0, -2)).toEqual(own);
});

test("a user out of range has no vector, a folded-in user has one", () => {
  expect(recommender.userVector(-1)).toBeNull();
  expect(recommender.userVector(120)).toBeNull();
  expect(recommender.vectorFromItems([{ item: 2, weight: 1 }])).not.toBeNull();
});
