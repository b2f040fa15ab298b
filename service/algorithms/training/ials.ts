import { type Interactions, transpose } from "../interactions";
import { arrayBytes, Kernel, paddedRows, strideOf } from "../kernel";
import { norm } from "../linear-algebra";
import { createRandom } from "../random";
import { eigenOf } from "./eigen";
import { neighbourFloats, usersAtOnce } from "./measuring";
import { boundsOf, PARTS } from "./parts";
import type { ItemsByLength } from "./products";
import { type Team, toShared } from "./team";
import { CHUNK, type MeasureWork, type Side } from "./work";

/** Parameters of the factorization. See `G1Parameters`. */
export interface FactorParameters {
  readonly dimensions: number;
  readonly regularization: number;
  readonly alpha: number;
  readonly regularizationExponent: number;
}

/** Vectors of all users and items, with `stride` floats each. */
export interface Factors {
  readonly dimensions: number;
  readonly stride: number;
  readonly userVectors: Float32Array;
  readonly itemVectors: Float32Array;
}

/** Returns the length of the kernel's scratch memory, in floats: a matrix, two vectors and the gathered rows. */
export function scratchLength(stride: number): number {
  return stride * stride + 2 * stride + Math.max(CHUNK, stride) * stride;
}

interface FactorSide extends Side {
  /** Number of rows with entries. A pair counts as unobserved only if its user and its item have entries. */
  readonly active: number;
  /** Sum of the weights in each row. */
  readonly totals: Float64Array;
  /** First row of each part that is solved, and the end of the last part. */
  readonly bounds: Uint32Array;
}

/** Number of conjugate gradient steps in each half step. Two already give the quality of an exact solution. */
const STEPS = 3;

/** Maximum number of random numbers to cache, 8 bytes each. */
const MAX_CACHED = 4_000_000;

/** Number of parts of a step that computes a Gram matrix. Each part has a separate matrix. */
const GRAM_PARTS = 8;

/**
 * Alternating least squares for implicit feedback, with the regularization of each row scaled by its weight
 * (Rendle, Krichene, Zhang, Koren: Revisiting the Performance of iALS on Item Recommendation Benchmarks, 2022).
 */
export class Factorizer {
  private readonly kernel: Kernel;
  private readonly users: FactorSide;
  private readonly items: FactorSide;
  private readonly ordered: Float32Array;
  private readonly grams: Float32Array;
  private readonly rotation: Float32Array;
  private readonly base: Float32Array;
  private readonly scratch: Float32Array[];
  private readonly cached: { seed: number; values: Float64Array };
  private parameters: FactorParameters = {
    dimensions: 8,
    regularization: 1,
    alpha: 1,
    regularizationExponent: 1,
  };

  constructor(
    interactions: Interactions,
    maxDimensions: number,
    private readonly team: Team,
    /** Whether to allocate memory for measurements. */
    isMeasured = false,
    /** A factorizer whose random numbers are reused. */
    earlier?: Factorizer,
  ) {
    this.cached = earlier?.cached ?? { seed: 0, values: new Float64Array(0) };
    const stride = strideOf(maxDimensions);
    const { users, items } = interactions;
    const entries = interactions.index.length;
    const measuring = usersAtOnce(items) * paddedRows(items) + neighbourFloats(users, items);
    const scratch = Math.max(scratchLength(stride), isMeasured ? measuring : 0);
    const sideBytes = (rows: number) =>
      arrayBytes(rows + 1) +
      2 * arrayBytes(entries) +
      arrayBytes(paddedRows(rows) * stride) +
      arrayBytes(rows);
    const ordered = isMeasured ? paddedRows(items) * stride : 0;
    this.kernel = new Kernel(
      sideBytes(users) +
        sideBytes(items) +
        arrayBytes(ordered) +
        (GRAM_PARTS + 1) * arrayBytes(stride * stride) +
        arrayBytes(stride) +
        team.size * arrayBytes(scratch),
      { shared: true },
    );
    this.users = this.place(interactions, stride);
    this.items = this.place(transpose(interactions), stride);
    this.ordered = this.kernel.floats(ordered);
    this.grams = this.kernel.floats(GRAM_PARTS * stride * stride);
    this.rotation = this.kernel.floats(stride * stride);
    this.base = this.kernel.floats(stride);
    this.scratch = Array.from({ length: team.size }, () => this.kernel.floats(scratch));
  }

  /** Starts again with small random item vectors. The first epoch computes the user vectors from them. */
  begin(parameters: FactorParameters, seed: number): void {
    this.parameters = parameters;
    const { dimensions } = parameters;
    const deviation = 0.1 / Math.sqrt(dimensions);
    const stride = strideOf(dimensions);
    const { vectors, rows } = this.items;
    this.users.vectors.fill(0);
    vectors.fill(0);
    const normals = this.normals(rows * dimensions, seed);
    for (let row = 0; row < rows; row++) {
      for (let k = 0; k < dimensions; k++)
        vectors[row * stride + k] = normals(row * dimensions + k) * deviation;
    }
    this.setRidges();
  }

  /**
   * Returns a function that gives normally distributed random numbers, to be called in order. Unless there are too
   * many, they are cached, because each trial starts with the same numbers.
   */
  private normals(count: number, seed: number): (at: number) => number {
    const random = createRandom(seed);
    if (count > MAX_CACHED) return () => random.normal();
    if (this.cached.seed !== seed || this.cached.values.length < count) {
      const values = new Float64Array(count);
      for (let at = 0; at < count; at++) values[at] = random.normal();
      Object.assign(this.cached, { seed, values });
    }
    const { values } = this.cached;
    return (at) => values[at];
  }

  /** Solves all user vectors, then all item vectors. */
  epoch(): void {
    this.halfStep(this.users, this.items);
    this.halfStep(this.items, this.users);
  }

  /** Returns the current vectors, and the memory that is needed to measure them. */
  measured(): Pick<
    MeasureWork,
    "memory" | "stride" | "scratch" | "userVectors" | "itemVectors" | "itemsOf" | "usersOf"
  > {
    const { scratch, users, items, kernel } = this;
    const stride = strideOf(this.parameters.dimensions);
    return {
      memory: kernel.memory,
      stride,
      scratch,
      userVectors: users.vectors,
      itemVectors: items.vectors,
      itemsOf: { start: users.start, index: users.index },
      usersOf: { start: items.start, index: items.index },
    };
  }

  /** Returns the items in descending order of the length of their current vectors. */
  byLength(): ItemsByLength {
    const stride = strideOf(this.parameters.dimensions);
    const { rows, vectors } = this.items;
    const rowOf = (item: number) => vectors.subarray(item * stride, (item + 1) * stride);
    const lengths = new Float32Array(rows);
    for (let item = 0; item < rows; item++) lengths[item] = norm(rowOf(item));
    const items = toShared(Uint32Array.from({ length: rows }, (_, item) => item));
    items.sort((a, b) => lengths[b] - lengths[a] || a - b);
    items.forEach((item, at) => {
      this.ordered.set(rowOf(item), at * stride);
    });
    return { items, lengths: toShared(lengths.sort().reverse()), vectors: this.ordered };
  }

  /** Returns a copy of the current vectors, rotated to make the Gram matrix of the items diagonal. */
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

  private place(side: Interactions, stride: number): FactorSide {
    const start = this.kernel.integers(side.users + 1);
    const index = this.kernel.integers(side.index.length);
    const weight = this.kernel.floats(side.weight.length);
    start.set(side.start);
    index.set(side.index);
    weight.set(side.weight);
    const totals = new Float64Array(side.users);
    for (let row = 0; row < side.users; row++) {
      for (let at = side.start[row]; at < side.start[row + 1]; at++) {
        totals[row] += side.weight[at];
      }
    }
    const active = totals.reduce((count, total) => (total > 0 ? count + 1 : count), 0);
    const vectors = this.kernel.floats(paddedRows(side.users) * stride);
    const ridge = this.kernel.floats(side.users);
    return { rows: side.users, active, start, index, weight, totals, vectors, ridge, bounds: boundsOf(side) };
  }

  private setRidges(): void {
    const set = (side: FactorSide, others: number) => {
      for (let row = 0; row < side.rows; row++) {
        side.ridge[row] = ridgeOf(this.parameters, side.totals[row], others);
      }
    };
    set(this.users, this.items.active);
    set(this.items, this.users.active);
  }

  private halfStep({ active: _, totals: __, bounds, ...solved }: FactorSide, fixed: FactorSide): void {
    const values = this.diagonalize(fixed);
    const { kernel, scratch, base, rotation: matrix } = this;
    const stride = strideOf(this.parameters.dimensions);
    for (let k = 0; k < stride; k++) base[k] = this.parameters.alpha * values[k];
    const size = solved.index.length * stride * 2 * (STEPS + 1);
    this.team.run({
      kind: "solve",
      memory: kernel.memory,
      stride,
      scratch,
      parts: PARTS,
      size,
      solved,
      fixed: fixed.vectors,
      base,
      matrix,
      bounds,
      steps: STEPS,
    });
  }

  /**
   * Rotates the vectors of one side to make their Gram matrix diagonal. Rotates the other side, if given, by the same
   * matrix.
   * @returns the diagonal
   */
  private diagonalize(side: FactorSide, other?: FactorSide): Float64Array {
    const stride = strideOf(this.parameters.dimensions);
    const { kernel, scratch, rotation: matrix, team } = this;
    const grams = this.grams.subarray(0, GRAM_PARTS * stride * stride).fill(0);
    const step = ({ vectors, rows }: FactorSide) => ({
      memory: kernel.memory,
      stride,
      scratch,
      of: { vectors, rows },
      size: rows * stride * stride,
    });
    team.run({ ...step(side), kind: "gram", grams, parts: GRAM_PARTS });
    const gram = new Float32Array(stride * stride);
    for (let at = 0; at < gram.length; at++) {
      let sum = 0;
      for (let part = 0; part < GRAM_PARTS; part++) sum += grams[part * gram.length + at];
      gram[at] = sum;
    }
    const { vectors, values } = eigenOf(gram, stride);
    matrix.set(vectors);
    for (const rotated of other ? [side, other] : [side])
      team.run({ ...step(rotated), kind: "rotate", matrix, parts: PARTS });
    return values.map((value) => Math.max(0, value));
  }
}

/**
 * Returns the regularization of a row. `total` is the sum of its weights, `others` the number of active rows on the
 * other side.
 */
export function ridgeOf(
  parameters: Omit<FactorParameters, "dimensions">,
  total: number,
  others: number,
): number {
  const { regularization, alpha, regularizationExponent } = parameters;
  return Math.max(1e-6, regularization * (total + alpha * others) ** regularizationExponent);
}
