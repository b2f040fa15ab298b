import type { Kernel } from "../kernel";
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
    for (const items of this.add(added, preferences)) move(added, items, scores);
    return scores;
  }

  /** Like `all`, but computes only the scores of some items, which are ascending. All other scores are arbitrary. */
  some(preferences: Preferences, items: Uint32Array): Float32Array {
    const scores = this.memory();
    this.vector.set(preferences.vector);
    const added = this.addedMemory();
    const found = this.add(added, preferences);
    let computed = -1;
    for (const item of items) {
      // A filter also knows items that the model does not have yet.
      if (item >= this.count) break;
      computed = this.computeBlock(item, computed);
      scores[item] += added[item] ?? 0;
    }
    setAll(added, found, 0);
    return scores;
  }

  /** Whether `highest` and `closest` can find this many items, and are faster than `all`. */
  isSearchable(wanted: number): boolean {
    return isSearchWorthwhile(this.count, this.stride) && wanted <= this.count - this.unplaced.size;
  }

  /**
   * Returns the items with the highest scores, best first, without the excluded ones and those without a vector. Computes
   * only the scores that may be among them, and leaves these in `memory`.
   */
  highest(preferences: Preferences, limit: number, exclude: readonly number[]): number[] {
    const search = this.searched();
    const { added } = search;
    const found = this.add(added, preferences);
    const excluded = Uint32Array.from(exclude.filter((item) => item < this.count));
    setAll(added, [excluded], Number.NEGATIVE_INFINITY);
    const possible = search.find(preferences.vector, this.count, Math.min(limit, this.count), found);
    const best = this.best(preferences.vector, possible, limit, (item, product) => product + added[item]);
    setAll(added, [...found, excluded], 0);
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
    const excluded = Uint32Array.from(exclude.filter((item) => item < this.count));
    setAll(search.added, [excluded], Number.NEGATIVE_INFINITY);
    const possible = search.findClosest(direction, this.count, Math.min(limit, this.count));
    setAll(search.added, [excluded], 0);
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

  /** Returns memory for `add`, all zero. */
  private addedMemory(): Float32Array {
    const hasMore = this.neighbours !== null || this.order !== null;
    if (this.search) return this.search.added;
    if (this.added.length < this.count && hasMore) this.added = new Float32Array(this.out.length);
    return this.added;
  }

  /**
   * Writes to an array of zeros what neighbours and the order of events add to the dot products of items. The array must be
   * all zero again afterwards, because filling it anew would take most of the time if there are very many items.
   * @returns the items with an addition
   */
  private add(added: Float32Array, { chosen, sequence }: Preferences): Uint32Array[] {
    const more: number[] = [];
    const found = chosen.length > 0 ? this.neighbours?.scores(chosen) : undefined;
    if (found) copy(found.sums, found.items, added);
    if (sequence) this.order?.add(added, sequence, more);
    const others = Uint32Array.from(more);
    return found ? [found.items, others] : [others];
  }
}

// These loops run over many thousand places, and are several times slower if some of the lists are not typed arrays.

function copy(from: Float32Array, places: Uint32Array, to: Float32Array): void {
  for (let at = 0; at < places.length; at++) to[places[at]] = from[places[at]];
}

/** Adds, instead of replacing, and leaves zeros. */
function move(from: Float32Array, places: Uint32Array, to: Float32Array): void {
  for (let at = 0; at < places.length; at++) {
    to[places[at]] += from[places[at]];
    from[places[at]] = 0;
  }
}

function setAll(values: Float32Array, lists: readonly Uint32Array[], value: number): void {
  for (const places of lists) for (let at = 0; at < places.length; at++) values[places[at]] = value;
}

function isZero(vector: Float32Array): boolean {
  return vector.every((value) => value === 0);
}
