import { nthLowest, TopK } from "../top";
import { type Prepared, ROUNDING, RoughCopies } from "./rough-copies";

/** Below this size of all vectors, in floats, computing all exact scores is as fast. */
const WORTHWHILE_FLOATS = 2 ** 18;

/** A search first bounds this many promising items for each one that it returns. */
const SEEDS = 16;

/** Groups of values in which the search looks for the promising items, for each one of them. */
const GROUPS = 4;

/** Typical dot product of a user and a recommended item, relative to the product of their lengths. */
const TYPICAL = 0.3;

/** The closest items of one item in this many show how close the closest of all items are. */
const SAMPLED = 16;

/** A search for the closest items expects to bound this many times as many items as it returns, and a few more. */
const [MARGIN, FEW] = [1.5, 4];

/** If that were too few, it looks for this many times as many. */
const MORE = 8;

/** Returns whether a rough search is faster than computing all scores. */
export function isSearchWorthwhile(items: number, stride: number): boolean {
  return items * stride >= WORTHWHILE_FLOATS;
}

/**
 * Narrows down which items can have the highest scores, with rough copies of their vectors. It returns all of the highest
 * items, and a few others. It leaves out most items without a product of vectors, because their vectors are too short to
 * reach the scores of a few promising items.
 */
export class RoughSearch {
  private constructor(private readonly copies: RoughCopies) {}

  /** Creates a search with the vectors of all items. Later items have zero vectors until `set` is called. */
  static of(vectors: Float32Array, capacity: number, stride: number): RoughSearch {
    return new RoughSearch(RoughCopies.of(vectors, capacity, stride));
  }

  /**
   * What `find` adds to the dot products, for each item, at least 0. -Infinity leaves an item out. The caller sets it before
   * a search, and back to 0 after it.
   */
  get added(): Float32Array {
    return this.copies.added;
  }

  /** Changes the vector of an item. */
  set(item: number, vector: Float32Array): void {
    this.copies.set(item, vector);
  }

  /**
   * Returns all of some items that may be among the `count` highest, ascending. Leaves out zero vectors.
   * @param of the items, ascending, or the number of the first items
   * @param raised marks of all blocks of items for which `added` is above 0
   */
  find(vector: Float32Array, of: Uint32Array | number, count: number, raised?: Uint8Array): number[] {
    const { copies } = this;
    const user = copies.prepare(vector);
    copies.mark(raised);
    const promising = this.promising(user, of, SEEDS * count);
    copies.bound(user, promising);
    const { floor } = this.lowest(promising, count);
    const near = floor - ROUNDING * Math.abs(floor);
    const reaching = this.select(of, user.length * (1 + ROUNDING), near);
    const possible = copies.keepHeadsReaching(user, reaching, near);
    copies.bound(user, possible);
    return this.atLeast(this.lowest(possible, count).floor, possible);
  }

  /**
   * Returns all of the first items that may be among the `count` ones whose vectors are closest to a direction, ascending:
   * with the highest products after a division by the length of the item's vector. Leaves out zero vectors. `added` must
   * be 0, or -Infinity to leave an item out.
   */
  findClosest(direction: Float32Array, items: number, count: number): number[] {
    const { copies } = this;
    const user = copies.prepare(direction);
    const sample = this.sampled(user, items);
    for (let rank = Math.ceil((MARGIN * count) / SAMPLED) + FEW; ; rank *= MORE) {
      const isAll = rank >= sample.length;
      // No item can be further away than the opposite direction.
      const floor = isAll ? -2 * user.length : nthLowest(sample, sample.length - rank);
      const possible = copies.selectClose(user, items, floor);
      this.boundCloseness(user, possible);
      const lowest = this.lowest(possible, count);
      // If that many items are above it, no item below it is among the closest.
      if (isAll || lowest.floor >= floor) return this.atLeast(lowest.floor, possible);
    }
  }

  /** Returns how close some of the items are at least. */
  private sampled(user: Prepared, items: number): Float32Array {
    const { added, which, low, reaches } = this.copies;
    let sampled = 0;
    for (let item = 0; item < items; item += SAMPLED)
      if (reaches[item] > 0 && added[item] === 0) which[sampled++] = item;
    this.boundCloseness(user, sampled);
    return low.slice(0, sampled);
  }

  /** Bounds the scores of the selected items, divided by the lengths of their vectors. */
  private boundCloseness(user: Prepared, selected: number): void {
    const { copies } = this;
    const { which, low, high, reaches } = copies;
    copies.bound(user, selected);
    for (let at = 0; at < selected; at++) {
      const reach = reaches[which[at]];
      low[at] /= reach;
      high[at] /= reach;
    }
  }

  /**
   * Selects at least `wanted` items, or one per block if there are fewer blocks, which would have the highest scores
   * with typical dot products. Returns their number. The higher the scores of these items, the more of the others
   * `find` can rule out.
   */
  private promising({ length }: Prepared, of: Uint32Array | number, wanted: number): number {
    const { copies } = this;
    const factor = TYPICAL * length;
    const all = typeof of === "number" ? copies.blockMaxima(of, factor) : copies.typicalScores(of, factor);
    const values = highestOfGroups(all, Math.floor(all.length / (GROUPS * wanted)));
    return this.select(of, factor, nthLowest(values, Math.max(0, values.length - wanted)));
  }

  private select(of: Uint32Array | number, factor: number, floor: number): number {
    if (typeof of === "number") return this.copies.selectReaching(of, factor, floor);
    return this.copies.selectReachingOf(of, factor, floor);
  }

  /** Returns the highest lower bounds of the selected items. */
  private lowest(selected: number, count: number): TopK {
    const { which, low } = this.copies;
    const lowest = new TopK(count);
    for (let at = 0; at < selected; at++) if (low[at] > lowest.floor) lowest.add(which[at], low[at]);
    return lowest;
  }

  /** Returns the selected items whose upper bound is at least `floor`. */
  private atLeast(floor: number, selected: number): number[] {
    const { which, high, added } = this.copies;
    const found: number[] = [];
    for (let at = 0; at < selected; at++)
      if (high[at] >= floor && added[which[at]] > Number.NEGATIVE_INFINITY) found.push(which[at]);
    return found;
  }
}

/** Returns the highest value of each group. Finding the n-th of them is much faster than that of all values. */
function highestOfGroups(values: Float32Array, size: number): Float32Array {
  if (size < 2) return values;
  const highest = new Float32Array(Math.floor(values.length / size));
  for (let group = 0, at = 0; group < highest.length; group++) {
    let most = values[at];
    for (const end = at + size; at < end; at++) if (values[at] > most) most = values[at];
    highest[group] = most;
  }
  return highest;
}
