import type { Kernel } from "../kernel";
import type { Neighbours } from "../neighbours";
import { UNPLACED } from "../placed";
import { TopK } from "../top";
import type { OrderPart } from "./order-part";
import type { Preferences } from "./preferences";
import { isSearchWorthwhile, RoughSearch } from "./rough-search";
import { allocateScores } from "./score-memory";

/** Computes scores from item vectors, neighbours and the order of events. */
export class ItemScores {
  /** Items without a vector. */
  readonly unplaced: Set<number>;
  private kernel: Kernel;
  private itemVectors: Float32Array;
  private vector: Float32Array;
  private out: Float32Array;
  private added = new Float32Array(0);
  private search: RoughSearch | undefined;
  private count: number;

  constructor(
    vectors: Float32Array,
    private readonly stride: number,
    private readonly neighbours: Neighbours | null,
    private readonly order: OrderPart | null,
  ) {
    this.count = vectors.length / stride;
    const { kernel, itemVectors, vector, out } = allocateScores(this.count, stride);
    this.kernel = kernel;
    this.itemVectors = itemVectors;
    this.vector = vector;
    this.out = out;
    this.itemVectors.set(vectors);
    this.unplaced = new Set(
      Array.from({ length: this.count }, (_, item) => item).filter((item) => isZero(this.rowOf(item))),
    );
  }

  /** Number of items, including those added after the training. */
  get items(): number {
    return this.count;
  }

  /** Number of items that fit into the memory. */
  get capacity(): number {
    return this.out.length;
  }

  /** The vectors of all items. */
  get vectors(): Float32Array {
    return this.itemVectors;
  }

  /** Returns the vector of an item. Call `place` to change it. */
  rowOf(item: number): Float32Array {
    return this.itemVectors.subarray(item * this.stride, (item + 1) * this.stride);
  }

  /** Replaces the vector of an item. */
  place(item: number, vector: Float32Array): Float32Array {
    const row = this.rowOf(item);
    row.set(vector);
    if (isZero(row)) this.unplaced.add(item);
    else this.unplaced.delete(item);
    this.search?.set(item, row);
    return row;
  }

  /** Adds items without vectors. */
  extend(items: number): void {
    for (let item = this.count; item < items; item++) this.unplaced.add(item);
    this.count = items;
    if (items <= this.out.length) return;
    const { itemVectors } = this;
    Object.assign(this, allocateScores(items, this.stride));
    this.itemVectors.set(itemVectors);
    this.search = undefined;
  }

  /** Returns memory for the scores of all items. The next call of any method overwrites it. */
  memory(): Float32Array {
    return this.out.subarray(0, this.count);
  }

  /** Returns the scores of all items, in `memory`. An item without a vector has a score too. */
  all(preferences: Preferences): Float32Array {
    const scores = this.memory();
    this.vector.set(preferences.vector);
    this.compute(0, this.count);
    if (!this.neighbours && !this.order) return scores;
    if (this.added.length !== this.count) this.added = new Float32Array(this.count);
    const added = this.addTo(this.added, preferences);
    for (let item = 0; item < scores.length; item++) scores[item] += added[item];
    return scores;
  }

  /** Like `all`, but computes only the scores of some items, which are ascending. All other scores are arbitrary. */
  some(preferences: Preferences, items: Uint32Array): Float32Array {
    const scores = this.memory();
    this.vector.set(preferences.vector);
    const hasMore = this.neighbours !== null || this.order !== null;
    if (hasMore && this.added.length !== this.count) this.added = new Float32Array(this.count);
    const added = hasMore ? this.addTo(this.added, preferences) : undefined;
    let computed = -1;
    for (const item of items) {
      // A filter also knows items that the model does not have yet.
      if (item >= this.count) break;
      computed = this.computeBlock(item, computed);
      if (added) scores[item] += added[item];
    }
    return scores;
  }

  /** Whether `highest` is faster than `all`. */
  get isSearchWorthwhile(): boolean {
    return isSearchWorthwhile(this.count, this.stride);
  }

  /**
   * Returns the items with the highest scores, best first, without the excluded ones. Computes only the scores that may
   * be among them, and leaves these in `memory`.
   */
  highest(preferences: Preferences, limit: number, exclude: Iterable<number>): number[] {
    const search = this.searched();
    const added = this.addTo(search.added.subarray(0, this.count), preferences);
    for (const item of this.unplaced) added[item] = UNPLACED;
    for (const item of exclude) if (item < added.length) added[item] = Number.NEGATIVE_INFINITY;
    const found = search.find(preferences.vector, this.count, Math.min(limit, this.count));
    return this.best(preferences.vector, found, limit, (item, product) => product + added[item]);
  }

  /**
   * Like `highest`, but divides the dot product of each item by the length of its vector, and adds nothing. Leaves out
   * items without a vector.
   */
  closest(
    direction: Float32Array,
    lengths: Float32Array,
    limit: number,
    exclude: Iterable<number>,
  ): number[] {
    const search = this.searched();
    search.added.fill(0);
    for (const item of exclude) if (item < this.count) search.added[item] = Number.NEGATIVE_INFINITY;
    const found = search.findClosest(direction, this.count, Math.min(limit, this.count));
    return this.best(direction, found, limit, (item, product) => product / lengths[item]);
  }

  private searched(): RoughSearch {
    this.search ??= RoughSearch.of(this.itemVectors, this.out.length, this.stride);
    return this.search;
  }

  /** Returns those of some items, ascending, that have the highest scores, best first. Leaves the scores in `memory`. */
  private best(
    vector: Float32Array,
    items: readonly number[],
    limit: number,
    scoreOf: (item: number, product: number) => number,
  ): number[] {
    this.vector.set(vector);
    const top = new TopK(Math.max(0, Math.min(limit, items.length)));
    let computed = -1;
    for (const item of items) {
      computed = this.computeBlock(item, computed);
      this.out[item] = scoreOf(item, this.out[item]);
      top.add(item, this.out[item]);
    }
    return top.sorted().items;
  }

  /**
   * Computes the dot product of an item and those of its block, because the kernel computes four rows at a time. Does
   * nothing for the block that was computed last, in which scores may be complete already. Returns the block.
   */
  private computeBlock(item: number, last: number): number {
    const block = item >> 2;
    if (block !== last) this.compute(4 * block, Math.min(4, this.count - 4 * block));
    return block;
  }

  /** Writes the dot products of the vector with some rows to `out`. */
  private compute(from: number, count: number): void {
    const { itemVectors, vector, out, kernel, stride } = this;
    const at = itemVectors.byteOffset + 4 * from * stride;
    kernel.run.scores(at, count, stride, vector.byteOffset, out.byteOffset + 4 * from);
  }

  /** Fills the array with what neighbours and the order of events add to each item's dot product. */
  private addTo(added: Float32Array, { chosen, sequence }: Preferences): Float32Array {
    const scores = chosen.length > 0 ? this.neighbours?.scores(chosen) : undefined;
    if (scores) added.set(scores);
    // The neighbours do not know items that were added after the training.
    added.fill(0, scores?.length);
    if (sequence) this.order?.add(added, sequence);
    return added;
  }
}

function isZero(vector: Float32Array): boolean {
  return vector.every((value) => value === 0);
}
