import type { Features } from "../attributes";
import { choleskySolver } from "../linear-algebra";

/** A linear map from features to vectors. `weights` has one row per feature, and a last row for the constant. */
export interface LinearMap {
  readonly stride: number;
  readonly weights: Float32Array;
}

/** Sums over examples for least squares. They do not depend on the penalty. */
export interface Moments {
  readonly size: number;
  readonly stride: number;
  readonly rows: number;
  readonly gram: Float64Array;
  readonly right: Float64Array;
}

/** An example to learn from: features, and the row of the vector to predict from them. */
export interface Example {
  readonly row: number;
  readonly features: Features;
}

/** Computes the sums of examples. */
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

/** Solves least squares with a penalty on all rows except the constant. */
export function solveRidge({ size, stride, gram, right }: Moments, penalty: number): LinearMap {
  const width = size + 1;
  const lower = new Float64Array(gram);
  for (let i = 0; i < size; i++) lower[i * width + i] += penalty;
  lower[width * width - 1] += 1e-6;
  const solution = choleskySolver(lower, width)(new Float64Array(right), stride);
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
