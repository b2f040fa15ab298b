import type { ExposureRule } from "../exposure";
import type { Interactions } from "../interactions";
import type { KernelMemory } from "../kernel";
import type { NeighbourRule } from "../neighbours";
import type { ItemsByLength } from "./products";

/** Number of rows that the kernel gathers at a time. */
export const CHUNK = 64;

/** Sparse rows: the entries of row r are at start[r] up to, not including, start[r + 1] of `index`. */
export type Rows = Pick<Interactions, "start" | "index">;

/** Users or items, and the data from which their vectors are computed. All arrays are in the kernel's memory. */
export interface Side {
  readonly rows: number;
  readonly start: Uint32Array;
  readonly index: Uint32Array;
  readonly weight: Float32Array;
  readonly vectors: Float32Array;
  readonly ridge: Float32Array;
}

/** A step of a training, divided into parts that do not depend on each other. */
interface Step {
  readonly memory: KernelMemory;
  readonly stride: number;
  readonly parts: number;
  /** Approximate number of multiplications. A small step is not worth a second thread. */
  readonly size: number;
  /** One array for each thread. */
  readonly scratch: readonly Float32Array[];
}

/** A step that computes the Gram matrix of vectors, as one sum per part. */
export interface GramWork extends Step {
  readonly kind: "gram";
  readonly of: Pick<Side, "vectors" | "rows">;
  /** The matrices of all parts, one after another. */
  readonly grams: Float32Array;
}

/** A step that multiplies all vectors by a rotation matrix. */
export interface RotateWork extends Step {
  readonly kind: "rotate";
  readonly of: Pick<Side, "vectors" | "rows">;
  readonly matrix: Float32Array;
}

/** A step that computes all vectors of one side from the fixed vectors of the other side. */
export interface SolveWork extends Step {
  readonly kind: "solve";
  readonly solved: Side;
  readonly fixed: Float32Array;
  readonly base: Float32Array;
  /** Rotation that was applied to the fixed side since the rows were last solved. */
  readonly matrix: Float32Array;
  /** First row of each part, and the end of the last part. */
  readonly bounds: Uint32Array;
  /** Steps of conjugate gradients; 0 solves exactly. */
  readonly steps: number;
}

/** One way to add neighbour scores to the dot products of vectors. */
export interface Blend {
  readonly scale: number;
  readonly popularityExponent: number;
  readonly similarityExponent: number;
}

/** A step that measures how well the vectors rank held-out items, with each of several blends. */
export interface MeasureWork extends Step {
  readonly kind: "measure";
  readonly userVectors: Float32Array;
  readonly itemVectors: Float32Array;
  readonly train: Interactions;
  /** Items that are not recommended to a user. */
  readonly excluded: Rows;
  readonly test: Rows;
  readonly users: Uint32Array;
  /** The items of each user and the users of each item, in the kernel's memory. */
  readonly itemsOf: Rows;
  readonly usersOf: Rows;
  /** How neighbours add to the scores; null if they do not. */
  readonly neighbours: Omit<NeighbourRule, keyof Blend> | null;
  readonly blends: readonly Blend[];
  readonly exposure: ExposureRule | undefined;
  /** Items by vector length, for a faster search. Null if scores depend on more than the vectors. */
  readonly byLength: ItemsByLength | null;
  readonly itemCounts: Uint32Array;
  /** For each user and each blend: recall and NDCG. */
  readonly out: Float64Array;
}

/** A step of a training. */
export type Work = GramWork | RotateWork | SolveWork | MeasureWork;
