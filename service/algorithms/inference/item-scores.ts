import { allocateMarks, BLOCK, eachMarked, paddedBlocks } from "../blocks";
import type { Kernel } from "../kernel";
import { isZero } from "../linear-algebra";
import type { Neighbours } from "../neighbours";
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
  private marked: Uint8Array = new Uint8Array(0);
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
    const added = this.addedMemory();
    const marked = this.add(added, preferences);
    eachMarked(marked, (from, to) => {
      const end = Math.min(to, scores.length);
      for (let item = from; item < end; item++) scores[item] += added[item];
    });
    clear(added, marked);
    return scores;
  }

  /** Like `all`, but computes only the scores of some items, which are ascending. All other scores are arbitrary. */
  some(preferences: Preferences, items: Uint32Array): Float32Array {
    const scores = this.memory();
    this.vector.set(preferences.vector);
    const added = this.addedMemory();
    const marked = this.add(added, preferences);
    let computed = -1;
    for (const item of items) {
      // A filter also knows items that the model does not have yet.
      if (item >= this.count) break;
      computed = this.computeBlock(item, computed);
      scores[item] += added[item] ?? 0;
    }
    clear(added, marked);
    return scores;
  }

  /** Whether `highest` and `closest` can find this many items, and are faster than `all`. */
  isSearchable(wanted: number): boolean {
    return isSearchWorthwhile(this.count, this.stride) && wanted <= this.count - this.unplaced.size;
  }

  /**
   * Returns the items with the highest scores, best first, without the excluded ones and those without a vector. Computes
   * only the scores that may be among them, and leaves these in `memory`.
   * @param among the only items to choose from, ascending; undefined for all
   */
  highest(
    preferences: Preferences,
    limit: number,
    exclude: readonly number[],
    among?: Uint32Array,
  ): number[] {
    const search = this.searched();
    const { added } = search;
    const marked = this.add(added, preferences);
    const excluded = exclude.filter((item) => item < this.count);
    for (const item of excluded) added[item] = Number.NEGATIVE_INFINITY;
    const { vector } = preferences;
    const possible = search.find(vector, among ?? this.count, Math.min(limit, this.count), marked);
    const best = this.best(vector, possible, limit, (item, product) => product + added[item]);
    clear(added, marked);
    for (const item of excluded) added[item] = 0;
    return best;
  }

  /** Like `highest`, but divides the dot product of each item by the length of its vector, and adds nothing. */
  closest(
    direction: Float32Array,
    lengths: Float32Array,
    limit: number,
    exclude: readonly number[],
  ): number[] {
    const search = this.searched();
    const excluded = exclude.filter((item) => item < this.count);
    for (const item of excluded) search.added[item] = Number.NEGATIVE_INFINITY;
    const possible = search.findClosest(direction, this.count, Math.min(limit, this.count));
    for (const item of excluded) search.added[item] = 0;
    return this.best(direction, possible, limit, (item, product) => product / lengths[item]);
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

  /** Returns memory for `add`, in whole blocks, all zero. */
  private addedMemory(): Float32Array {
    if (this.search) return this.search.added;
    const needed = paddedBlocks(this.out.length);
    if (this.added.length !== needed) this.added = new Float32Array(needed);
    return this.added;
  }

  /**
   * Writes to an array of zeros what neighbours and the order of events add to the dot products of items. Call `clear`
   * afterwards. Filling the whole array anew would take most of the time if there are very many items.
   * @returns marks of the blocks of these items
   */
  private add(added: Float32Array, { chosen, sequence }: Preferences): Uint8Array {
    if (this.marked.length * BLOCK !== added.length) this.marked = allocateMarks(added.length);
    const { marked } = this;
    marked.fill(0);
    const found = chosen.length > 0 ? this.neighbours?.scores(chosen) : undefined;
    if (found) {
      eachMarked(found.marked, (from, to) => added.set(found.sums.subarray(from, to), from));
      marked.set(found.marked);
    }
    if (sequence) this.order?.add(added, sequence, marked);
    return marked;
  }
}

function clear(added: Float32Array, marked: Uint8Array): void {
  eachMarked(marked, (from, to) => added.fill(0, from, to));
}
