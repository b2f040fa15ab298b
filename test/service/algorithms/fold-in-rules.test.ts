import type { TrainedModel } from "../../../service/algorithms";
import { diagonalized, itemCounts, servable } from "../../../service/algorithms";
import { FoldIn } from "../../../service/algorithms/inference/fold-in";
import type { Preferences } from "../../../service/algorithms/inference/preferences";
import { Recommender } from "../../../service/algorithms/inference/recommender";
import { createRandom } from "../../../service/algorithms/random";

/** Event values of a user by item. */
type Rated = ReadonlyMap<number, number>;

const [items, dimensions, alpha, regularization] = [80, 10, 0.7, 0.05];
const random = createRandom(5);
const factors = Array.from({ length: items }, () =>
  Array.from({ length: dimensions }, () => random.normal() / 3),
);
const users: Rated[] = [1, 3, 40].map(
  (count) => new Map(Array.from({ length: count }, (_, at) => [at * 2, 1 + (at % 5)])),
);
/** Every item has events, because Spark has no factors for items without events. */
users.push(new Map(factors.map((_, item) => [item, 1])));

/** Solves (YᵀY + α Σ r·yyᵀ + λ·n·I) x = Σ (1 + α r) y, the equations of ALS with implicit preferences in Spark. */
function solvedAsSparkDoes(rated: Rated): number[] {
  const matrix = Array.from({ length: dimensions }, (_, i) =>
    Array.from({ length: dimensions }, (_, j) => {
      const all = factors.reduce((sum, y) => sum + y[i] * y[j], 0);
      const own = [...rated].reduce((sum, [item, r]) => {
        const y = factors[item];
        return sum + alpha * r * y[i] * y[j];
      }, 0);
      return all + own + (i === j ? regularization * rated.size : 0);
    }),
  );
  const right = Array.from({ length: dimensions }, (_, i) =>
    [...rated].reduce((sum, [item, r]) => sum + (1 + alpha * r) * factors[item]?.[i], 0),
  );
  return solve(matrix, right);
}

/** Gauss-Jordan elimination in 64 bits. */
function solve(matrix: number[][], right: number[]): number[] {
  const rows = matrix.map((row, at) => [...row, right[at]]);
  for (let k = 0; k < rows.length; k++) {
    const pivot = rows[k];
    for (const row of rows) {
      if (row === pivot) continue;
      const times = row[k] / pivot[k];
      row.forEach((value, at) => {
        row[at] = value - times * pivot[at];
      });
    }
  }
  return rows.map((row, k) => row[row.length - 1] / row[k]);
}

/** A model as Spark trains it: its Gram matrix is not diagonal. */
function sparkModel(): TrainedModel {
  const stride = 16;
  const matrix = (rows: number[][]) =>
    Float32Array.from(
      { length: rows.length * stride },
      (_, at) => rows[Math.floor(at / stride)]?.[at % stride] ?? 0,
    );
  const start = Uint32Array.from([
    0,
    ...users.map((_, at) => users.slice(0, at + 1).reduce((sum, { size }) => sum + size, 0)),
  ]);
  return {
    algorithm: "spark-als",
    parameters: {},
    report: null,
    stride,
    users: users.length,
    items,
    userVectors: matrix(users.map(solvedAsSparkDoes)),
    itemVectors: matrix(factors),
    interactions: {
      users: users.length,
      items,
      start,
      index: Uint32Array.from(users.flatMap((rated) => [...rated.keys()])),
      weight: Float32Array.from(users.flatMap((rated) => [...rated.values()])),
    },
    foldIn: { rule: "spark-als-implicit", alpha, regularization },
    neighbours: null,
    ranking: null,
    userAttributes: null,
    itemAttributes: null,
  };
}

describe("a model that Spark trained", () => {
  const trained = sparkModel();
  const model = diagonalized(trained, itemCounts(trained.interactions));
  const recommender = new Recommender(servable(model));
  const itemsOf = (rated: Rated) => [...rated].map(([item, weight]) => ({ item, weight }));

  test.each(users.map((rated, user) => [rated.size, user, rated] as const))(
    "folds in a user with %i items by Spark's equations",
    (_, user, rated) => {
      const folded = new FoldIn(servable(model)).solve(itemsOf(rated)) as Float32Array;
      const { vector: trained } = recommender.preferencesOf(user) as Preferences;
      folded.forEach((value, k) => {
        expect(value).toBeCloseTo(trained[k], 4);
      });
      // A rotation of the vectors does not change scores.
      const x = solvedAsSparkDoes(rated);
      factors.forEach((y, item) => {
        const plain = y.reduce((sum, value, k) => sum + value * x[k], 0);
        const own = folded.reduce((sum, value, k) => sum + value * model.itemVectors[item * 16 + k], 0);
        expect(own).toBeCloseTo(plain, 4);
      });
    },
  );

  test("uses the trained factors until the user's events change", () => {
    const [, rated] = users as [Rated, Rated];
    expect(recommender.preferencesFromItems(itemsOf(rated), 1)?.vector).toEqual(
      recommender.preferencesOf(1)?.vector,
    );
    const more = new Map([...rated, [79, 5]]);
    const x = solvedAsSparkDoes(more);
    const scores = factors.map((y) => y.reduce((sum, value, k) => sum + value * x[k], 0));
    const best = [...scores.keys()].sort((a, b) => scores[b] - scores[a]);
    expect(recommender.top(recommender.preferencesFromItems(itemsOf(more), 1), 10)).toEqual(
      best.slice(0, 10),
    );
  });

  test("does not fit the equations of another trainer", () => {
    const weightScale = { weighting: "linear", damping: 0, typical: 1, average: 1 } as const;
    const other = { rule: "ials", alpha, regularization, regularizationExponent: 1, weightScale } as const;
    const wrong = new FoldIn({ ...servable(model), foldIn: other }).solve(itemsOf(users[1])) as Float32Array;
    const { vector: right } = recommender.preferencesOf(1) as Preferences;
    expect(Math.max(...wrong.map((value, k) => Math.abs(value - right[k])))).toBeGreaterThan(0.05);
  });
});
