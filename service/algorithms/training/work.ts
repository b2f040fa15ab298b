import type { ExposureRule } from "../exposure";
import type { Interactions } from "../interactions";
import type { KernelMemory } from "../kernel";
import type { NeighbourRule } from "../neighbours";
import type { ItemsByLength } from "./products";

/** Rows that the kernel gathers at a time. */
export const CHUNK = 64;

/** Sparse rows: those of row r are `index[start[r]]` up to `index[start[r + 1]]`. */
export type Rows = Pick<Interactions, "start" | "index">;

/** Users or items with the data that their vectors are solved from. All arrays are in the kernel's memory. */
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
  /** Multiplications, roughly. A small step is not worth a second thread. */
  readonly size: number;
  /** One array for each thread. */
  readonly scratch: readonly Float32Array[];
}

/** Computes the Gram matrix of the vectors, one sum for each part. */
export interface GramWork extends Step {
  readonly kind: "gram";
  readonly of: Pick<Side, "vectors" | "rows">;
  /** The matrices of all parts, one after another. */
  readonly grams: Float32Array;
}

/** Multiplies all vectors by a rotation matrix. */
export interface RotateWork extends Step {
  readonly kind: "rotate";
  readonly of: Pick<Side, "vectors" | "rows">;
  readonly matrix: Float32Array;
}

/** Solves all rows of one side against the other side. */
export interface SolveWork extends Step {
  readonly kind: "solve";
  readonly solved: Side;
  readonly fixed: Float32Array;
  readonly base: Float32Array;
  /** The rotation of the fixed side since the rows were solved last. */
  readonly matrix: Float32Array;
  /** First row of each part, and the end of the last part. */
  readonly bounds: Uint32Array;
  /** Steps of conjugate gradients; 0 solves exactly. */
  readonly steps: number;
}

/** One way to add the scores of neighbours to the products of vectors. */
export interface Blend {
  readonly scale: number;
  readonly popularityExponent: number;
}

/** Measures how many held-out items the vectors find, with each of several blends. */
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
  /** How neighbours count; null if they do not. */
  readonly neighbours: Omit<NeighbourRule, "scale" | "popularityExponent"> | null;
  readonly blends: readonly Blend[];
  readonly exposure: ExposureRule | undefined;
  /** Allows a faster search for the best items. Null if scores depend on more than the vectors. */
  readonly byLength: ItemsByLength | null;
  readonly itemCounts: Uint32Array;
  /** Recall and NDCG of each blend, user after user. */
  readonly out: Float64Array;
}

/** A step of a training. */
export type Work = GramWork | RotateWork | SolveWork | MeasureWork;
