import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { servable, trainG1 } from "../../../service/algorithms";
import { FoldIn } from "../../../service/algorithms/inference/fold-in";
import { arrayBytes, Kernel, paddedRows, TooLargeError } from "../../../service/algorithms/kernel";
import { createRandom } from "../../../service/algorithms/random";
import { eigenOf } from "../../../service/algorithms/training/eigen";
import { ridgeOf } from "../../../service/algorithms/training/ials";
import { scaledWeight } from "../../../service/algorithms/weighting";
import { createWorld } from "./world";

test("the committed kernel is compiled from the committed source", () => {
  const script = join(__dirname, "../../../service/algorithms/kernel/build.mjs");
  expect(() => execFileSync(process.execPath, [script, "--check"])).not.toThrow();
});

test.each([
  [8, 5],
  [16, 33],
  [64, 130],
])("Gram matrix, solution and scores in %i dimensions equal a plain reference", (stride, rows) => {
  const random = createRandom(3);
  const kernel = new Kernel(4 * arrayBytes(stride * (paddedRows(rows) + stride)));
  const vectors = kernel.floats(paddedRows(rows) * stride);
  const gram = kernel.floats(stride * stride);
  const right = kernel.floats(stride);
  const solution = kernel.floats(stride);
  const out = kernel.floats(paddedRows(rows));
  for (let at = 0; at < rows * stride; at++) vectors[at] = random.normal();

  kernel.run.addGram(vectors.byteOffset, rows, stride, gram.byteOffset);
  const expected = plainGram(vectors, rows, stride);
  for (let i = 0; i < stride; i++) {
    for (let j = i; j < stride; j++) expect(gram[i * stride + j]).toBeCloseTo(expected[i]?.[j], 3);
  }

  for (let i = 0; i < stride; i++) {
    gram[i * stride + i] = gram[i * stride + i] + 1;
    expected[i][i] += 1;
    right[i] = random.normal();
  }
  const wanted = [...right];
  kernel.run.solve(gram.byteOffset, right.byteOffset, stride, solution.byteOffset);
  expected.forEach((row, i) => {
    const product = row.reduce((sum, value, j) => sum + value * solution[j], 0);
    expect(product).toBeCloseTo(wanted[i], 2);
  });

  kernel.run.scores(vectors.byteOffset, rows, stride, solution.byteOffset, out.byteOffset);
  for (let row = 0; row < rows; row++) {
    const dot = solution.reduce((sum, value, k) => sum + value * vectors[row * stride + k], 0);
    expect(out[row]).toBeCloseTo(dot, 3);
  }
});

test.each([
  ["few", 3],
  ["many", 30],
])("a half step solves the equations of a user with %s items", (_, count) => {
  const { interactions } = createWorld({ users: 60, items: 40 });
  const given = { dimensions: 12, epochs: 3, alpha: 0.2, weighting: "linear", damping: 0.5 } as const;
  const model = trainG1({ interactions }, given);
  const { stride, itemVectors, parameters, foldIn } = model;
  if (foldIn.rule !== "ials") throw new Error("G1 has a rule of its own");
  const items = Array.from({ length: count }, (_, item) => ({ item, weight: 1 + (item % 4) }));
  const x = new FoldIn(servable(model)).solve(items) as Float32Array;
  const matrix = plainGram(itemVectors, model.items, stride).map((row) => row.map((value) => value * 0.2));
  const right = new Array<number>(stride).fill(0);
  let total = 0;
  for (const { item, weight } of items) {
    const scaled = scaledWeight(foldIn.weightScale, weight, count);
    const y = itemVectors.subarray(item * stride, (item + 1) * stride);
    total += scaled;
    y.forEach((value, i) => {
      right[i] = right[i] + scaled * value;
      y.forEach((other, j) => {
        matrix[i][j] += scaled * value * other;
      });
    });
  }
  const ridge = ridgeOf(parameters, total, new Set(interactions.index).size);
  matrix.forEach((row, i) => {
    const product = row.reduce((sum, value, j) => sum + value * x[j], 0);
    expect(product + ridge * x[i]).toBeCloseTo(right[i], 3);
  });
});

test.each([
  [8, 8, 20],
  [32, 32, 100],
  [32, 32, 3],
  [16, 10, 20],
  [8, 8, 0],
  [1, 1, 4],
  [7, 7, 20],
  [13, 13, 40],
])(
  "eigenvectors and eigenvalues give back the matrix (%i wide, %i filled, from %i rows)",
  (size, filled, from) => {
    const random = createRandom(6);
    const rows = Float32Array.from({ length: from * size }, (_, at) =>
      at % size < filled ? random.normal() : 0,
    );
    const matrix = plainGram(rows, from, size);
    const { vectors, values } = eigenOf(matrix.flat(), size);
    const column = (k: number) => Array.from({ length: size }, (_, i) => vectors[i * size + k]);
    const columns = Array.from({ length: size }, (_, k) => column(k));
    for (let i = 0; i < size; i++) {
      for (let j = 0; j < size; j++) {
        const sum = columns.reduce((total, each, k) => total + each[i] * values[k] * each[j], 0);
        expect(sum).toBeCloseTo(matrix[i]?.[j], 4);
        const product = column(i).reduce((total, value, k) => total + value * columns[j]?.[k], 0);
        expect(product).toBeCloseTo(i === j ? 1 : 0, 9);
      }
    }
  },
);

test.each([
  ["the identity", [1, 0, 0, 1]],
  ["a multiple of the identity", [3, 0, 0, 3]],
  ["a diagonal matrix", [2, 0, 0, 5]],
])("eigenvectors of %s are its axes", (_, matrix) => {
  const { vectors, values } = eigenOf(matrix, 2);
  expect([...vectors].map(Math.abs)).toEqual([1, 0, 0, 1]);
  expect([...values]).toEqual([matrix[0], matrix[3]]);
});

test("finds eigenvectors if there are fewer vectors than dimensions, and much of the matrix is rounding errors", () => {
  const random = createRandom(7);
  const size = 64;
  for (let time = 0; time < 120; time++) {
    const vectors = Array.from({ length: 1 + (time % (size - 1)) }, () =>
      Float64Array.from({ length: size }, () => random.normal()),
    );
    const matrix = Float64Array.from({ length: size * size }, (_, at) =>
      vectors.reduce((sum, of) => sum + (of[Math.floor(at / size)] ?? 0) * (of[at % size] ?? 0), 0),
    );
    const found = eigenOf(matrix, size);
    const trace = vectors.reduce((sum, of) => sum + of.reduce((square, value) => square + value ** 2, 0), 0);
    expect(found.values.reduce((sum, value) => sum + value, 0)).toBeCloseTo(trace, 6);
    expect(Math.min(...found.values)).toBeGreaterThan(-1e-9);
  }
});

test("rejects a matrix with NaN", () => {
  expect(() => eigenOf([1, Number.NaN, Number.NaN, 1], 2)).toThrow(/diverged/);
});

test("does not overwrite earlier eigenvectors of the same size, even after a rejected matrix", () => {
  const random = createRandom(8);
  const size = 7;
  const [one, other] = [0, 1].map(() => {
    const rows = Float32Array.from({ length: 20 * size }, () => random.normal());
    return plainGram(rows, 20, size).flat();
  }) as [number[], number[]];
  const first = eigenOf(one, size);
  const [vectors, values] = [[...first.vectors], [...first.values]];
  eigenOf(other, size);
  expect(() => eigenOf(new Float64Array(size * size).fill(Number.NaN), size)).toThrow(/diverged/);
  expect([[...first.vectors], [...first.values]]).toEqual([vectors, values]);
  const again = eigenOf(one, size);
  expect([[...again.vectors], [...again.values]]).toEqual([vectors, values]);
});

test("fold-in gives nearly the trained vector", () => {
  const { interactions } = createWorld();
  const model = trainG1({ interactions }, { dimensions: 16, epochs: 15 });
  const folding = new FoldIn(servable(model));
  const similarities = [0, 100, 200].map((user) => {
    const entries = Array.from(
      { length: interactions.start[user + 1] - interactions.start[user] },
      (_, at) => interactions.start[user] + at,
    );
    const folded = folding.solve(
      entries.map((at) => ({
        item: interactions.index[at],
        weight: interactions.weight[at],
      })),
    ) as Float32Array;
    return cosine(folded, model.userVectors.subarray(user * model.stride, (user + 1) * model.stride));
  });
  for (const similarity of similarities) expect(similarity).toBeGreaterThan(0.98);
  expect(folding.solve([])).toBeNull();
  expect(folding.solve([{ item: 10_000, weight: 1 }])).toBeNull();
});

function plainGram(vectors: Float32Array, rows: number, stride: number): number[][] {
  return Array.from({ length: stride }, (_, i) =>
    Array.from({ length: stride }, (_, j) => {
      let sum = 0;
      for (let row = 0; row < rows; row++) {
        sum += vectors[row * stride + i] * vectors[row * stride + j];
      }
      return sum;
    }),
  );
}

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, k) => sum + value * y[k], 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

test("rejects a memory above 4 GiB with a hint", () => {
  expect(() => new Kernel(2 ** 32 + 1)).toThrow(TooLargeError);
  expect(() => new Kernel(5.5 * 2 ** 30)).toThrow(
    /needs 5.5 GiB .* and 4 GiB is the limit\. Set fewer dimensions/,
  );
});
