import { arrayBytes, Kernel } from "../kernel";
import { scratchLength } from "../training/ials";
import { CHUNK } from "../training/work";
import { type Equations, equationsOf } from "./equations";
import type { ServableModel } from "./servable";

/** One of a user's items, and the sum of its event values. */
export interface UserItem {
  readonly item: number;
  readonly weight: number;
  /** Time of the user's last event on the item, in milliseconds. Only needed by models that use the order of events. */
  readonly time?: number | undefined;
}

/** The terms of one user's equations. See `Equations`. */
export interface Entries {
  readonly entries: readonly { readonly item: number; readonly weight: number; readonly right: number }[];
  readonly ridge: number;
  /** Diagonal of shared · YᵀY, the part of the matrix that is the same for all users. */
  readonly base: Float32Array;
}

/** Computes the vector of a user from the user's items and the trained item vectors, like one half step of training. */
export class FoldIn {
  private readonly kernel: Kernel;
  private readonly equations: Equations;
  private readonly itemVectors: Float32Array;
  private readonly base: Float32Array;
  private readonly start: Uint32Array;
  private readonly index: Uint32Array;
  private readonly weight: Float32Array;
  private readonly right: Float32Array;
  private readonly ridge: Float32Array;
  private readonly solved: Float32Array;
  private readonly scratch: Float32Array;

  constructor(
    private readonly model: ServableModel,
    itemVectors = model.itemVectors,
    /** Number of users with events on each item. */
    popularity: ArrayLike<number> = model.learned.itemUsers,
  ) {
    const { stride, items } = model;
    const lengths = [items * stride, stride, 2, items, items, items, 1, stride, scratchLength(stride)];
    this.kernel = new Kernel(lengths.reduce((sum, length) => sum + arrayBytes(length), 0));
    this.itemVectors = this.kernel.floats(items * stride);
    this.base = this.kernel.floats(stride);
    this.start = this.kernel.integers(2);
    this.index = this.kernel.integers(items);
    this.weight = this.kernel.floats(items);
    this.right = this.kernel.floats(items);
    this.ridge = this.kernel.floats(1);
    this.solved = this.kernel.floats(stride);
    this.scratch = this.kernel.floats(scratchLength(stride));

    const active = Array.from({ length: items }, (_, item) => item).filter((item) => popularity[item]);
    this.equations = equationsOf(model.foldIn, active.length);
    this.itemVectors.set(itemVectors.subarray(0, items * stride));
    // In training, only items with events count as unobserved, so items with vectors from attributes are left out.
    const squares = new Float64Array(stride);
    for (const item of active) {
      for (let k = 0; k < stride; k++) squares[k] += model.itemVectors[item * stride + k] ** 2;
    }
    this.base.set(squares.map((sum) => this.equations.shared * sum));
  }

  /** Replaces the vector of an item without events. */
  place(item: number, vector: Float32Array): void {
    if (item < this.model.items) this.itemVectors.set(vector, item * this.model.stride);
  }

  /** Returns the terms of a user's equations, for the items that the model knows. */
  entriesOf(items: readonly UserItem[]): Entries {
    const { model, equations } = this;
    const sums = new Map<number, number>();
    for (const { item, weight } of items) {
      if (item >= 0 && item < model.items && Number.isFinite(weight))
        sums.set(item, (sums.get(item) ?? 0) + weight);
    }
    const known = [...sums].filter(([, sum]) => sum > 0);
    const entries = known.map(([item, sum]) => ({ item, ...equations.entry(sum, known.length) }));
    const total = entries.reduce((all, { weight }) => all + weight, 0);
    return { entries, ridge: equations.ridge(total, known.length), base: this.base };
  }

  /** Returns the vector that fold-in uses for an item. */
  vectorOf(item: number): Float32Array {
    const { stride } = this.model;
    return this.itemVectors.subarray(item * stride, (item + 1) * stride);
  }

  /** Returns the user's vector; null if the model knows none of the items. */
  solve(items: readonly UserItem[]): Float32Array | null {
    const { model } = this;
    const { entries: known, ridge } = this.entriesOf(items);
    if (known.length === 0) return null;
    known.forEach(({ item, weight, right }, at) => {
      this.index[at] = item;
      this.weight[at] = weight;
      this.right[at] = right;
    });
    this.start[1] = known.length;
    this.ridge[0] = ridge;
    this.kernel.run.solveRows(
      this.start.byteOffset,
      this.index.byteOffset,
      this.weight.byteOffset,
      this.right.byteOffset,
      0,
      1,
      this.solved.byteOffset,
      this.itemVectors.byteOffset,
      model.stride,
      this.base.byteOffset,
      this.ridge.byteOffset,
      this.scratch.byteOffset,
      CHUNK,
      0,
      0,
    );
    return this.solved.some((value) => value !== 0) ? this.solved.slice() : null;
  }
}
