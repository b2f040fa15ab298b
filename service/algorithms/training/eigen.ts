import { arrayBytes, Kernel } from "../kernel";
import { dot } from "../linear-algebra";

/** Eigenvectors of a symmetric matrix. */
export interface Eigen {
  /** Their matrix, one eigenvector per column. */
  readonly vectors: Float64Array;
  readonly values: Float64Array;
}

/** Room in a kernel's memory for a symmetric matrix and for the tridiagonal one that it becomes. */
interface Room {
  readonly kernel: Kernel;
  readonly size: number;
  readonly diagonal: Float64Array;
  /** Beside the diagonal: the k-th element lies between k and k + 1. */
  readonly beside: Float64Array;
  /** The matrix; then, in the place of each row that a reflection cleared, its mirror. */
  readonly mirrors: Float64Array;
  /** How much of its mirror each reflection subtracts. */
  readonly scales: Float64Array;
  /** Of the rows with a mirror. */
  readonly products: Float64Array;
  /** Row k is what the k-th axis has become. */
  readonly rows: Float64Array;
}

const MAX_TURNS = 60;

/** A training asks for one size again and again. */
let last: Room | undefined;

function roomFor(size: number): Room {
  const kernel = new Kernel(2 * arrayBytes(2 * size * size) + 4 * arrayBytes(2 * size));
  const numbers = () => kernel.doubles(size);
  return {
    ...{ kernel, size, diagonal: numbers(), beside: numbers(), scales: numbers(), products: numbers() },
    ...{ mirrors: kernel.doubles(size * size), rows: kernel.doubles(size * size) },
  };
}

/**
 * Finds the eigenvectors of a symmetric matrix, of which the upper triangle is read: reflections make it tridiagonal,
 * rotations make that diagonal (Golub, Van Loan: Matrix Computations, 8.3: the implicit QL form of the algorithm).
 */
export function eigenOf(upper: ArrayLike<number>, size: number): Eigen {
  const room = last?.size === size ? last : roomFor(size);
  last = room;
  tridiagonalize(upper, room);
  reflectAxes(room);
  const { diagonal, beside, rows } = room;
  // Rounding leaves as much anywhere, however small what lies around it: where vectors are fewer than dimensions,
  // much of the matrix is nothing else.
  const nothing = Number.EPSILON * largestOf(diagonal, beside);
  for (let low = 0; low < size; low++) {
    let high = blockEnd(beside, low, nothing);
    for (let turn = 0; high > low; turn++) {
      // A few turns are enough for numbers; what is not a number never settles.
      if (turn === MAX_TURNS) throw new Error("the training diverged: a matrix of it has no eigenvectors");
      turnBlock(room, low, high);
      high = blockEnd(beside, low, nothing);
    }
  }
  const vectors = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < size; k++) vectors[k * size + i] = rows[i * size + k];
  }
  return { vectors, values: diagonal.slice() };
}

/** Reflects the axes one after another, each so that its row has nothing beyond the element beside the diagonal. */
function tridiagonalize(upper: ArrayLike<number>, room: Room): void {
  const { kernel, size, diagonal, beside, mirrors: matrix, scales, products } = room;
  for (let i = 0; i < size; i++) {
    for (let j = i; j < size; j++) matrix[i * size + j] = matrix[j * size + i] = upper[i * size + j];
  }
  beside.fill(0);
  scales.fill(0);
  for (let k = 0; k < size - 1; k++) {
    const mirror = matrix.subarray(k * size + k + 1, (k + 1) * size);
    const first = mirror[0];
    const tail = mirror.subarray(1);
    const beyond = dot(tail, tail);
    if (beyond === 0) {
      beside[k] = first;
      continue;
    }
    const length = Math.sqrt(first * first + beyond);
    const reflected = first > 0 ? -length : length;
    beside[k] = reflected;
    mirror[0] = first - reflected;
    const scale = 1 / (length * length - first * reflected);
    scales[k] = scale;
    const rest = size - k - 1;
    const product = products.subarray(0, rest);
    const below = matrix.byteOffset + ((k + 1) * size + k + 1) * 8;
    kernel.run.products(below, rest, size, mirror.byteOffset, rest, product.byteOffset);
    let along = 0;
    for (let i = 0; i < rest; i++) {
      product[i] = scale * product[i];
      along += product[i] * mirror[i];
    }
    const half = (scale / 2) * along;
    for (let i = 0; i < rest; i++) product[i] -= half * mirror[i];
    kernel.run.subtractMultiples(below, rest, size, mirror.byteOffset, product.byteOffset, rest);
    kernel.run.subtractMultiples(below, rest, size, product.byteOffset, mirror.byteOffset, rest);
  }
  for (let i = 0; i < size; i++) diagonal[i] = matrix[i * size + i];
}

/** Does all reflections to the axes. Those that a reflection does not reach yet are left out. */
function reflectAxes({ kernel, size, mirrors, scales, products, rows }: Room): void {
  rows.fill(0);
  for (let i = 0; i < size; i++) rows[i * size + i] = 1;
  for (let k = size - 2; k >= 0; k--) {
    if (scales[k] === 0) continue;
    const rest = size - k - 1;
    const at = (k + 1) * size + k + 1;
    const mirror = mirrors.byteOffset + (at - size) * 8;
    const below = rows.byteOffset + at * 8;
    kernel.run.products(below, rest, size, mirror, rest, products.byteOffset);
    for (let i = 0; i < rest; i++) products[i] = scales[k] * products[i];
    kernel.run.subtractMultiples(below, rest, size, products.byteOffset, mirror, rest);
  }
}

/** The last row that is still tied to this one. */
function blockEnd(beside: Float64Array, low: number, nothing: number): number {
  let high = low;
  while (high < beside.length - 1 && !(Math.abs(beside[high]) <= nothing)) high++;
  return high;
}

function largestOf(...arrays: readonly Float64Array[]): number {
  return arrays.flatMap((array) => [...array]).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

/** One pass of rotations from the end of a block to its beginning, with Wilkinson's shift. */
function turnBlock({ kernel, size, diagonal, beside, rows }: Room, low: number, high: number): void {
  const off = beside[low];
  const slope = (diagonal[low + 1] - diagonal[low]) / (2 * off);
  const shift = off / (slope + Math.sign(slope || 1) * Math.sqrt(slope * slope + 1));
  let ahead = diagonal[high] - diagonal[low] + shift;
  let [sine, cosine, moved] = [1, 1, 0];
  for (let i = high - 1; i >= low; i--) {
    const across = sine * beside[i];
    const along = cosine * beside[i];
    const length = Math.sqrt(across * across + ahead * ahead);
    beside[i + 1] = length;
    if (length === 0) {
      diagonal[i + 1] -= moved;
      beside[high] = 0;
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
  beside[low] = ahead;
  beside[high] = 0;
}
