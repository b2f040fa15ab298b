/** Minimum pivot, so a matrix can still be solved if rounding has made it singular. */
const MIN_PIVOT = 1e-9;

/**
 * Factors a symmetric positive definite matrix (Cholesky), in place. Only the lower triangle is read.
 * @returns a function that solves the equations in place, for one or more columns on the right side
 */
export function choleskySolver(
  lower: Float64Array,
  size: number,
): (right: Float64Array, columns?: number) => Float64Array {
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = lower[i * size + j];
      for (let k = 0; k < j; k++) sum -= lower[i * size + k] * lower[j * size + k];
      lower[i * size + j] = i === j ? Math.sqrt(Math.max(sum, MIN_PIVOT)) : sum / lower[j * size + j];
    }
  }
  return (right, columns = 1) => {
    const subtract = (row: number, other: number, factor: number) => {
      if (factor === 0) return;
      for (let k = 0; k < columns; k++) right[row * columns + k] -= factor * right[other * columns + k];
    };
    const divide = (row: number) => {
      const factor = 1 / lower[row * size + row];
      for (let k = 0; k < columns; k++) right[row * columns + k] *= factor;
    };
    for (let i = 0; i < size; i++) {
      for (let j = 0; j < i; j++) subtract(i, j, lower[i * size + j]);
      divide(i);
    }
    for (let i = size - 1; i >= 0; i--) {
      for (let j = i + 1; j < size; j++) subtract(i, j, lower[j * size + i]);
      divide(i);
    }
    return right;
  };
}

/** Returns the dot product of two vectors; the first one sets the length. */
export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
}

/** Returns the Euclidean length of a vector. */
export function norm(vector: ArrayLike<number>): number {
  return Math.sqrt(dot(vector, vector));
}

/** Returns whether all numbers of a vector are 0. */
export function isZero(vector: Float32Array): boolean {
  return vector.every((value) => value === 0);
}

/** Returns the mean of the values; NaN if there are none. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
