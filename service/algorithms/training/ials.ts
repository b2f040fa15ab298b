import { type Interactions, transpose } from "../interactions";
import { arrayBytes, Kernel, paddedRows, strideOf } from "../kernel";
import { createRandom } from "../random";
import { eigenOf } from "./eigen";

/** What the factorisation itself needs to know; see G1Parameters for the meaning of each. */
export interface FactorParameters {
  readonly dimensions: number;
  readonly regularization: number;
  readonly alpha: number;
  readonly regularizationExponent: number;
}

/** Vectors of all users and items, `stride` floats each. */
export interface Factors {
  readonly dimensions: number;
  readonly stride: number;
  readonly userVectors: Float32Array;
  readonly itemVectors: Float32Array;
}

/** Rows that the kernel gathers at a time. */
export const CHUNK = 64;

/** Floats that the kernel needs beside its input: a matrix, two vectors and the gathered rows. */
export function scratchLength(stride: number): number {
  return stride * stride + 2 * stride + Math.max(CHUNK, stride) * stride;
}

interface Side {
  readonly rows: number;
  /** Rows with at least one entry: the others do not count as unobserved. */
  readonly active: number;
  readonly start: Uint32Array;
  readonly index: Uint32Array;
  readonly weight: Float32Array;
  readonly totals: Float64Array;
  readonly vectors: Float32Array;
  readonly ridge: Float32Array;
}

/**
 * Alternating least squares for implicit feedback, with the regularisation of each row scaled by its weight
 * (Rendle, Krichene, Zhang, Koren: Revisiting the Performance of iALS on Item Recommendation Benchmarks, 2022).
 */
export class Factorizer {
  private readonly kernel: Kernel;
  private readonly users: Side;
  private readonly items: Side;
  private readonly gram: Float32Array;
  private readonly base: Float32Array;
  private readonly scratch: Float32Array;
  private readonly out: Float32Array;
  private parameters: FactorParameters = {
    dimensions: 8,
    regularization: 1,
    alpha: 1,
    regularizationExponent: 1,
  };

  constructor(interactions: Interactions, maxDimensions: number) {
    const stride = strideOf(maxDimensions);
    const seenFromItems = transpose(interactions);
    const { users, items } = interactions;
    const entries = interactions.index.length;
    const scratch = scratchLength(stride);
    const sideBytes = (rows: number) =>
      arrayBytes(rows + 1) +
      2 * arrayBytes(entries) +
      arrayBytes(paddedRows(rows) * stride) +
      arrayBytes(rows);
    this.kernel = new Kernel(
      sideBytes(users) +
        sideBytes(items) +
        arrayBytes(stride * stride) +
        arrayBytes(stride) +
        arrayBytes(scratch) +
        arrayBytes(paddedRows(items)),
    );
    this.users = this.place(interactions, stride);
    this.items = this.place(seenFromItems, stride);
    this.gram = this.kernel.floats(stride * stride);
    this.base = this.kernel.floats(stride);
    this.scratch = this.kernel.floats(scratch);
    this.out = this.kernel.floats(paddedRows(items));
  }

  /** Begins anew with small random vectors. */
  begin(parameters: FactorParameters, seed: number): void {
    this.parameters = parameters;
    const random = createRandom(seed);
    const deviation = 0.1 / Math.sqrt(parameters.dimensions);
    const stride = strideOf(parameters.dimensions);
    for (const side of [this.users, this.items]) {
      side.vectors.fill(0);
      for (let row = 0; row < side.rows; row++) {
        for (let k = 0; k < parameters.dimensions; k++)
          side.vectors[row * stride + k] = random.normal() * deviation;
      }
    }
    this.setRidges();
  }

  /** Solves all users, then all items. */
  epoch(): void {
    this.halfStep(this.users, this.items);
    this.halfStep(this.items, this.users);
  }

  /** Scores of all items for one user; the array is overwritten by the next call. */
  scores(user: number): Float32Array {
    const stride = strideOf(this.parameters.dimensions);
    const { vectors, rows } = this.items;
    const from = this.users.vectors.byteOffset + user * stride * 4;
    this.kernel.run.scores(vectors.byteOffset, rows, stride, from, this.out.byteOffset);
    return this.out.subarray(0, rows);
  }

  /** A copy of the vectors as they stand, turned so that the gram matrix of the items is diagonal. */
  factors(): Factors {
    this.diagonalize(this.items, this.users);
    const { dimensions } = this.parameters;
    const stride = strideOf(dimensions);
    return {
      dimensions,
      stride,
      userVectors: this.users.vectors.slice(0, this.users.rows * stride),
      itemVectors: this.items.vectors.slice(0, this.items.rows * stride),
    };
  }

  private place(side: Interactions, stride: number): Side {
    const start = this.kernel.integers(side.users + 1);
    const index = this.kernel.integers(side.index.length);
    const weight = this.kernel.floats(side.weight.length);
    start.set(side.start);
    index.set(side.index);
    weight.set(side.weight);
    const totals = new Float64Array(side.users);
    for (let row = 0; row < side.users; row++) {
      for (let at = side.start[row] as number; at < (side.start[row + 1] as number); at++) {
        totals[row] = (totals[row] as number) + (side.weight[at] as number);
      }
    }
    const active = totals.reduce((count, total) => (total > 0 ? count + 1 : count), 0);
    const vectors = this.kernel.floats(paddedRows(side.users) * stride);
    const ridge = this.kernel.floats(side.users);
    return { rows: side.users, active, start, index, weight, totals, vectors, ridge };
  }

  private setRidges(): void {
    const set = (side: Side, others: number) => {
      for (let row = 0; row < side.rows; row++) {
        side.ridge[row] = ridgeOf(this.parameters, side.totals[row] as number, others);
      }
    };
    set(this.users, this.items.active);
    set(this.items, this.users.active);
  }

  private halfStep(solved: Side, fixed: Side): void {
    const stride = strideOf(this.parameters.dimensions);
    const values = this.diagonalize(fixed);
    for (let k = 0; k < stride; k++) this.base[k] = this.parameters.alpha * (values[k] as number);
    this.kernel.run.solveRows(
      solved.start.byteOffset,
      solved.index.byteOffset,
      solved.weight.byteOffset,
      0,
      0,
      solved.rows,
      solved.vectors.byteOffset,
      fixed.vectors.byteOffset,
      stride,
      this.base.byteOffset,
      solved.ridge.byteOffset,
      this.scratch.byteOffset,
      CHUNK,
    );
  }

  /** Turns the vectors of one side so that their gram matrix is diagonal, and those of the other side with them. */
  private diagonalize(side: Side, other?: Side): Float64Array {
    const stride = strideOf(this.parameters.dimensions);
    const { gram, kernel, scratch } = this;
    gram.fill(0);
    kernel.run.addGram(side.vectors.byteOffset, side.rows, stride, gram.byteOffset);
    const { vectors, values } = eigenOf(gram, stride);
    gram.set(vectors);
    for (const turned of other ? [side, other] : [side]) {
      kernel.run.rotate(turned.vectors.byteOffset, turned.rows, stride, gram.byteOffset, scratch.byteOffset);
    }
    return values.map((value) => Math.max(0, value));
  }
}

/** Regularisation of a row whose weights sum to `total` against `others` active rows on the other side. */
export function ridgeOf(
  parameters: Omit<FactorParameters, "dimensions">,
  total: number,
  others: number,
): number {
  const { regularization, alpha, regularizationExponent } = parameters;
  return Math.max(1e-6, regularization * (total + alpha * others) ** regularizationExponent);
}
