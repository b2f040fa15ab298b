import { arrayBytes, Kernel } from "../kernel";
import { dot } from "../linear-algebra";

/** Eigenvectors and eigenvalues of a symmetric matrix. */
export interface Eigen {
  /** A matrix with one eigenvector per column. */
  readonly vectors: Float64Array;
  readonly values: Float64Array;
}

/** Arrays in a kernel's memory for the matrix and its tridiagonal form. */
interface Workspace {
  readonly kernel: Kernel;
  readonly size: number;
  readonly diagonal: Float64Array;
  /** The off-diagonal of the tridiagonal matrix: element k is in row k, column k + 1. */
  readonly offDiagonal: Float64Array;
  /** The matrix. Each row that a reflection clears is overwritten with the Householder vector of this reflection. */
  readonly reflectors: Float64Array;
  /** Factor of each reflection. */
  readonly scales: Float64Array;
  /** Products of the rows with a Householder vector. */
  readonly products: Float64Array;
  /** The eigenvectors as rows. */
  readonly rows: Float64Array;
}

/** A matrix of finite numbers converges in a few iterations. A matrix with NaN never does. */
const MAX_ITERATIONS = 60;

/** The last workspace. It is reused, because a training computes many matrices of the same size. */
let last: Workspace | undefined;

function allocate(size: number): Workspace {
  const kernel = new Kernel(2 * arrayBytes(2 * size * size) + 4 * arrayBytes(2 * size));
  const numbers = () => kernel.doubles(size);
  return {
    kernel,
    size,
    diagonal: numbers(),
    offDiagonal: numbers(),
    scales: numbers(),
    products: numbers(),
    reflectors: kernel.doubles(size * size),
    rows: kernel.doubles(size * size),
  };
}

/**
 * Computes the eigenvectors of a symmetric matrix from its upper triangle. Householder reflections make it tridiagonal,
 * then implicit QL iterations make it diagonal (Golub, Van Loan: Matrix Computations, 8.3).
 */
export function eigenOf(upper: ArrayLike<number>, size: number): Eigen {
  const workspace = last?.size === size ? last : allocate(size);
  last = workspace;
  tridiagonalize(upper, workspace);
  applyReflections(workspace);
  const { diagonal, offDiagonal, rows } = workspace;
  // The tolerance is relative to the largest element, like the rounding errors.
  // With fewer vectors than dimensions, neighbouring elements can all be rounding errors, so they are no measure.
  const tolerance = Number.EPSILON * largestOf(diagonal, offDiagonal);
  for (let low = 0; low < size; low++) {
    let high = blockEnd(offDiagonal, low, tolerance);
    for (let iteration = 0; high > low; iteration++) {
      if (iteration === MAX_ITERATIONS)
        throw new Error(
          "The training diverged: the eigenvectors of a matrix cannot be computed. Choose a larger regularization.",
        );
      iterate(workspace, low, high);
      high = blockEnd(offDiagonal, low, tolerance);
    }
  }
  const vectors = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < size; k++) vectors[k * size + i] = rows[i * size + k];
  }
  return { vectors, values: diagonal.slice() };
}

/** Makes the matrix tridiagonal: each reflection clears a row beyond its off-diagonal element. */
function tridiagonalize(upper: ArrayLike<number>, workspace: Workspace): void {
  const { kernel, size, diagonal, offDiagonal, reflectors: matrix, scales, products } = workspace;
  for (let i = 0; i < size; i++) {
    for (let j = i; j < size; j++) matrix[i * size + j] = matrix[j * size + i] = upper[i * size + j];
  }
  offDiagonal.fill(0);
  scales.fill(0);
  for (let k = 0; k < size - 1; k++) {
    const reflector = matrix.subarray(k * size + k + 1, (k + 1) * size);
    const first = reflector[0];
    const tail = reflector.subarray(1);
    const beyond = dot(tail, tail);
    if (beyond === 0) {
      offDiagonal[k] = first;
      continue;
    }
    const length = Math.sqrt(first * first + beyond);
    const reflected = first > 0 ? -length : length;
    offDiagonal[k] = reflected;
    reflector[0] = first - reflected;
    const scale = 1 / (length * length - first * reflected);
    scales[k] = scale;
    const rest = size - k - 1;
    const product = products.subarray(0, rest);
    const below = matrix.byteOffset + ((k + 1) * size + k + 1) * 8;
    kernel.run.products(below, rest, size, reflector.byteOffset, rest, product.byteOffset);
    let along = 0;
    for (let i = 0; i < rest; i++) {
      product[i] = scale * product[i];
      along += product[i] * reflector[i];
    }
    const half = (scale / 2) * along;
    for (let i = 0; i < rest; i++) product[i] -= half * reflector[i];
    kernel.run.subtractMultiples(below, rest, size, reflector.byteOffset, product.byteOffset, rest);
    kernel.run.subtractMultiples(below, rest, size, product.byteOffset, reflector.byteOffset, rest);
  }
  for (let i = 0; i < size; i++) diagonal[i] = matrix[i * size + i];
}

/** Applies all reflections to the identity matrix. Skips rows that a reflection does not change. */
function applyReflections({ kernel, size, reflectors, scales, products, rows }: Workspace): void {
  rows.fill(0);
  for (let i = 0; i < size; i++) rows[i * size + i] = 1;
  for (let k = size - 2; k >= 0; k--) {
    if (scales[k] === 0) continue;
    const rest = size - k - 1;
    const at = (k + 1) * size + k + 1;
    const reflector = reflectors.byteOffset + (at - size) * 8;
    const below = rows.byteOffset + at * 8;
    kernel.run.products(below, rest, size, reflector, rest, products.byteOffset);
    for (let i = 0; i < rest; i++) products[i] = scales[k] * products[i];
    kernel.run.subtractMultiples(below, rest, size, products.byteOffset, reflector, rest);
  }
}

/** Returns the last row of the unreduced block that starts at this row. */
function blockEnd(offDiagonal: Float64Array, low: number, tolerance: number): number {
  let high = low;
  while (high < offDiagonal.length - 1 && !(Math.abs(offDiagonal[high]) <= tolerance)) high++;
  return high;
}

function largestOf(...arrays: readonly Float64Array[]): number {
  return arrays.flatMap((array) => [...array]).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

/** Runs one QL iteration on a block, with Wilkinson's shift. */
function iterate({ kernel, size, diagonal, offDiagonal, rows }: Workspace, low: number, high: number): void {
  const off = offDiagonal[low];
  const slope = (diagonal[low + 1] - diagonal[low]) / (2 * off);
  const shift = off / (slope + Math.sign(slope || 1) * Math.sqrt(slope * slope + 1));
  let ahead = diagonal[high] - diagonal[low] + shift;
  let [sine, cosine, moved] = [1, 1, 0];
  for (let i = high - 1; i >= low; i--) {
    const across = sine * offDiagonal[i];
    const along = cosine * offDiagonal[i];
    const length = Math.sqrt(across * across + ahead * ahead);
    offDiagonal[i + 1] = length;
    if (length === 0) {
      diagonal[i + 1] -= moved;
      offDiagonal[high] = 0;
      return;
    }
    sine = across / length;
    cosine = ahead / length;
    const next = diagonal[i + 1] - moved;
    const gap = (diagonal[i] - next) * sine + 2 * cosine * along;
    moved = sine * gap;
    diagonal[i + 1] = next + moved;
    ahead = cosine * gap - along;
    const row = rows.byteOffset + i * size * 8;
    kernel.run.rotatePair(row, row + size * 8, size, cosine, sine);
  }
  diagonal[low] -= moved;
  offDiagonal[low] = ahead;
  offDiagonal[high] = 0;
}
