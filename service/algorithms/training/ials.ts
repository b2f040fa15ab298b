import { type Interactions, transpose } from "../interactions";
import { arrayBytes, Kernel, paddedRows, strideOf } from "../kernel";
import { norm } from "../linear-algebra";
import { createRandom } from "../random";
import { eigenOf } from "./eigen";
import { neighbourFloats, usersAtOnce } from "./measuring";
import type { ItemsByLength } from "./products";
import { type Team, toShared } from "./team";
import { CHUNK, type MeasureWork, type Side } from "./work";

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

/** Floats that the kernel needs beside its input: a matrix, two vectors and the gathered rows. */
export function scratchLength(stride: number): number {
  return stride * stride + 2 * stride + Math.max(CHUNK, stride) * stride;
}

interface FactorSide extends Side {
  /** Rows with at least one entry: the others do not count as unobserved. */
  readonly active: number;
  readonly totals: Float64Array;
  /** Where the parts begin that it is solved in. */
  readonly bounds: Uint32Array;
}

/** Steps of conjugate gradients in each half step: with two the vectors are as good as if they were solved. */
const STEPS = 3;

/** Random numbers that are kept, 8 bytes each. */
const MOST_KEPT = 4_000_000;

/** Into how many parts a step is divided; never by the number of threads, on which no sum may depend. */
const PARTS = 24;
const GRAM_PARTS = 8;

/**
 * Alternating least squares for implicit feedback, with the regularisation of each row scaled by its weight
 * (Rendle, Krichene, Zhang, Koren: Revisiting the Performance of iALS on Item Recommendation Benchmarks, 2022).
 */
export class Factorizer {
  private readonly kernel: Kernel;
  private readonly users: FactorSide;
  private readonly items: FactorSide;
  private readonly ordered: Float32Array;
  private readonly grams: Float32Array;
  private readonly turn: Float32Array;
  private readonly base: Float32Array;
  private readonly scratch: Float32Array[];
  private readonly kept: { seed: number; values: Float64Array };
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
    /** Whether there is to be room to measure. */
    isMeasured = false,
    /** One whose random numbers are taken over. */
    former?: Factorizer,
  ) {
    this.kept = former?.kept ?? { seed: 0, values: new Float64Array(0) };
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
    this.turn = this.kernel.floats(stride * stride);
    this.base = this.kernel.floats(stride);
    this.scratch = Array.from({ length: team.size }, () => this.kernel.floats(scratch));
  }

  /** Begins anew with small random vectors of the items; those of the users follow from them. */
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

  /** Random numbers in their order; few are kept for the next time, for each trial begins with the same. */
  private normals(count: number, seed: number): (at: number) => number {
    const random = createRandom(seed);
    if (count > MOST_KEPT) return () => random.normal();
    if (this.kept.seed !== seed || this.kept.values.length < count) {
      const values = new Float64Array(count);
      for (let at = 0; at < count; at++) values[at] = random.normal();
      Object.assign(this.kept, { seed, values });
    }
    const { values } = this.kept;
    return (at) => values[at];
  }

  /** Solves all users, then all items. */
  epoch(): void {
    this.halfStep(this.users, this.items);
    this.halfStep(this.items, this.users);
  }

  /** What is to be known to measure the vectors as they stand. */
  measured(): Pick<
    MeasureWork,
    "memory" | "stride" | "scratch" | "userVectors" | "itemVectors" | "itemsOf" | "usersOf"
  > {
    const { scratch, users, items, kernel } = this;
    const stride = strideOf(this.parameters.dimensions);
    return {
      ...{ memory: kernel.memory, stride, scratch },
      ...{ userVectors: users.vectors, itemVectors: items.vectors },
      itemsOf: { start: users.start, index: users.index },
      usersOf: { start: items.start, index: items.index },
    };
  }

  /** The items by the lengths of their vectors as they stand. */
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
    const { kernel, scratch, base, turn: matrix } = this;
    const stride = strideOf(this.parameters.dimensions);
    for (let k = 0; k < stride; k++) base[k] = this.parameters.alpha * values[k];
    const size = solved.index.length * stride * 2 * (STEPS + 1);
    this.team.run({
      ...{ kind: "solve", memory: kernel.memory, stride, scratch, parts: PARTS, size },
      ...{ solved, fixed: fixed.vectors, base, matrix, bounds, steps: STEPS },
    });
  }

  /** Turns the vectors of one side so that their gram matrix is diagonal, and those of the other side with them. */
  private diagonalize(side: FactorSide, other?: FactorSide): Float64Array {
    const stride = strideOf(this.parameters.dimensions);
    const { kernel, scratch, turn: matrix, team } = this;
    const grams = this.grams.subarray(0, GRAM_PARTS * stride * stride).fill(0);
    const step = ({ vectors, rows }: FactorSide) => ({
      ...{ memory: kernel.memory, stride, scratch, of: { vectors, rows }, size: rows * stride * stride },
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
    for (const turned of other ? [side, other] : [side])
      team.run({ ...step(turned), kind: "rotate", matrix, parts: PARTS });
    return values.map((value) => Math.max(0, value));
  }
}

/** Bounds between parts of rows that take about the same time. */
export function boundsOf({ users, start }: Interactions): Uint32Array {
  const bounds = new Uint32Array(PARTS + 1).fill(users);
  const costUpTo = (row: number) => start[row] + ROW_COST * row;
  const total = costUpTo(users);
  let part = 0;
  for (let row = 0; row < users; row++) {
    while (part < PARTS && costUpTo(row) >= (total * part) / PARTS) bounds[part++] = row;
  }
  return bounds;
}

/** What each row costs beside its entries, in entries. */
const ROW_COST = 8;

/** Regularisation of a row whose weights sum to `total` against `others` active rows on the other side. */
export function ridgeOf(
  parameters: Omit<FactorParameters, "dimensions">,
  total: number,
  others: number,
): number {
  const { regularization, alpha, regularizationExponent } = parameters;
  return Math.max(1e-6, regularization * (total + alpha * others) ** regularizationExponent);
}
