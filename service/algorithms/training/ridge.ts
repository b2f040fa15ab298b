import type { Features } from "../attributes";

/** A linear map from features to vectors: `weights` holds one row per feature and a last one for the average. */
export interface LinearMap {
  readonly stride: number;
  readonly weights: Float32Array;
}

/** The pieces of least squares that do not depend on the penalty. */
export interface Moments {
  readonly size: number;
  readonly stride: number;
  readonly rows: number;
  readonly gram: Float64Array;
  readonly right: Float64Array;
}

/** Features, and the row of the vector that they should give. */
export interface Example {
  readonly row: number;
  readonly features: Features;
}

/** Sums up examples. */
export function momentsOf(
  examples: readonly Example[],
  vectors: Float32Array,
  size: number,
  stride: number,
): Moments {
  const width = size + 1;
  const gram = new Float64Array(width * width);
  const right = new Float64Array(width * stride);
  for (const { row, features } of examples) {
    const { places, values } = features;
    const all = [...places, size];
    const amounts = [...values, 1];
    all.forEach((place, i) => {
      const amount = amounts[i];
      all.forEach((other, j) => {
        const at = place * width + other;
        gram[at] += amount * amounts[j];
      });
      for (let k = 0; k < stride; k++) {
        const at = place * stride + k;
        right[at] += amount * vectors[row * stride + k];
      }
    });
  }
  return { size, stride, rows: examples.length, gram, right };
}

/** Solves least squares with a penalty on all rows but the average. */
export function solveRidge({ size, stride, gram, right }: Moments, penalty: number): LinearMap {
  const width = size + 1;
  const lower = new Float64Array(gram);
  for (let i = 0; i < size; i++) lower[i * width + i] += penalty;
  lower[width * width - 1] += 1e-6;
  factor(lower, width);
  const solution = new Float64Array(right);
  for (let i = 0; i < width; i++) {
    for (let j = 0; j < i; j++) subtractRow(solution, i, j, lower[i * width + j], stride);
    scaleRow(solution, i, 1 / lower[i * width + i], stride);
  }
  for (let i = width - 1; i >= 0; i--) {
    for (let j = i + 1; j < width; j++) subtractRow(solution, i, j, lower[j * width + i], stride);
    scaleRow(solution, i, 1 / lower[i * width + i], stride);
  }
  return { stride, weights: Float32Array.from(solution) };
}

/** Applies the map to the features of one record. */
export function applyMap({ stride, weights }: LinearMap, { places, values }: Features): Float32Array {
  const vector = weights.slice(weights.length - stride);
  places.forEach((place, i) => {
    const amount = values[i];
    for (let k = 0; k < stride; k++) {
      vector[k] += amount * weights[place * stride + k];
    }
  });
  return vector;
}

function factor(matrix: Float64Array, width: number): void {
  for (let i = 0; i < width; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * width + j];
      for (let k = 0; k < j; k++) sum -= matrix[i * width + k] * matrix[j * width + k];
      matrix[i * width + j] = i === j ? Math.sqrt(Math.max(sum, 1e-9)) : sum / matrix[j * width + j];
    }
  }
}

function subtractRow(of: Float64Array, row: number, other: number, amount: number, stride: number): void {
  if (amount === 0) return;
  for (let k = 0; k < stride; k++) {
    of[row * stride + k] -= amount * of[other * stride + k];
  }
}

function scaleRow(of: Float64Array, row: number, amount: number, stride: number): void {
  for (let k = 0; k < stride; k++) of[row * stride + k] *= amount;
}
