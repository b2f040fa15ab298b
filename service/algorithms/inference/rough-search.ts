import { arrayBytes, Kernel, paddedRows } from "../kernel";
import { norm } from "../linear-algebra";
import { nthLowest, TopK } from "../top";

/** Largest number in an 8-bit item vector, and in a 16-bit user vector. Their dot products never exceed 32 bits. */
const [LARGEST_ITEM, LARGEST_USER] = [127, 8191];

/** Bound of the rounding errors of exact scores, relative to the lengths of the vectors. Real errors are far smaller. */
const ROUNDING = 1e-5;

/** Below this size of all vectors, in floats, computing all exact scores is as fast. */
const WORTHWHILE_FLOATS = 2 ** 18;

/** Number of items in a block. The kernel finds the maximum of each block. */
const BLOCK = 64;

/** The largest numbers of each vector. Often, bounding the rest of a product by the lengths of the vectors is enough. */
const HEAD = 32;

/** A search first bounds this many promising items for each one that it returns. */
const SEEDS = 16;

/** Typical dot product of a user and a recommended item, relative to the product of their lengths. */
const TYPICAL = 0.3;

/** Returns whether a rough search is faster than computing all scores. */
export function isSearchWorthwhile(items: number, stride: number): boolean {
  return items * stride >= WORTHWHILE_FLOATS;
}

/**
 * Narrows down which items can have the highest scores. It holds an 8-bit copy of the item vectors, a quarter of their
 * size, and knows how far each copy is off. So it returns all of the highest items, and a few others. It leaves out most
 * items without a product of vectors, because their vectors are too short to reach the scores of a few promising items.
 */
export class RoughSearch {
  /**
   * What to add to the dot products, for each item: -Infinity leaves an item out. Must be set before each search.
   */
  readonly added: Float32Array;
  private readonly kernel: Kernel;
  private readonly rows: Int8Array;
  private readonly scales: Float32Array;
  private readonly vector: Int16Array;
  /** Length of the difference between each item vector and its copy, with the rounding of exact scores. */
  private readonly errors: Float32Array;
  /** Length of each copy. */
  private readonly lengths: Float32Array;
  /** Length of each item vector, rounded up. */
  private readonly reaches: Float32Array;
  /** The items whose scores are bounded, and the bounds. */
  private readonly which: Uint32Array;
  private readonly low: Float32Array;
  private readonly high: Float32Array;
  private readonly maxima: Float32Array;
  /** The first numbers of each row, and the length of the rest of each item vector. */
  private readonly heads: Int8Array;
  private readonly tails: Float32Array;
  /** Length of the longest item vector so far. */
  private longest = 0;

  /**
   * @param capacity the largest number of items
   * @param order the order of the numbers in each copy
   */
  private constructor(
    capacity: number,
    private readonly stride: number,
    private readonly order: Uint32Array,
  ) {
    const rows = paddedBlocks(capacity);
    const [bytes, headBytes] = [Math.ceil((rows * stride) / 4), (rows * HEAD) / 4];
    const lengths = [bytes, headBytes, stride, ...new Array<number>(9).fill(rows), rows / BLOCK];
    this.kernel = new Kernel(lengths.reduce((sum, length) => sum + arrayBytes(length), 0));
    const { buffer } = this.kernel.memory;
    this.rows = new Int8Array(buffer, this.kernel.floats(bytes).byteOffset, rows * stride);
    this.vector = new Int16Array(buffer, this.kernel.floats(stride).byteOffset, stride);
    this.added = this.kernel.floats(rows);
    this.scales = this.kernel.floats(rows);
    this.errors = this.kernel.floats(rows);
    this.lengths = this.kernel.floats(rows);
    this.reaches = this.kernel.floats(rows);
    this.which = this.kernel.integers(rows);
    this.low = this.kernel.floats(rows);
    this.high = this.kernel.floats(rows);
    this.maxima = this.kernel.floats(rows / BLOCK);
    this.heads = new Int8Array(buffer, this.kernel.floats(headBytes).byteOffset, rows * HEAD);
    this.tails = this.kernel.floats(rows);
  }

  /** Creates a search with the vectors of all items. Later items have zero vectors until `set` is called. */
  static of(vectors: Float32Array, capacity: number, stride: number): RoughSearch {
    const search = new RoughSearch(capacity, stride, byEnergy(vectors, stride));
    for (let item = 0; item < capacity; item++)
      search.set(item, vectors.subarray(item * stride, (item + 1) * stride));
    return search;
  }

  /** Copies the vector of an item. */
  set(item: number, vector: Float32Array): void {
    const { stride, order, heads, rows } = this;
    const scale = largestOf(vector) / LARGEST_ITEM;
    let [off, squares, head, tail] = [0, 0, 0, 0];
    for (let k = 0; k < stride; k++) {
      const value = vector[order[k]];
      const copy = scale > 0 ? Math.round(value / scale) : 0;
      const rest = value - copy * scale;
      rows[item * stride + k] = copy;
      off += rest * rest;
      squares += copy * copy;
      if (k < HEAD) {
        heads[item * HEAD + k] = copy;
        head += value * value;
      } else tail += value * value;
    }
    const length = Math.sqrt(head + tail);
    this.longest = Math.max(this.longest, length);
    this.tails[item] = Math.sqrt(tail) * (1 + ROUNDING);
    this.scales[item] = scale;
    this.lengths[item] = Math.sqrt(squares) * scale;
    this.errors[item] = Math.sqrt(off) + ROUNDING * length;
    this.reaches[item] = length * (1 + ROUNDING);
  }

  /** Returns all of the first items that may be among the `count` highest. */
  find(vector: Float32Array, items: number, count: number): number[] {
    const user = this.prepared(vector);
    // The last block ends after the last item.
    this.added.fill(Number.NEGATIVE_INFINITY, items, paddedBlocks(items));
    const promising = this.promising(user, items, SEEDS * count);
    const { floor } = this.lowest(user, promising, count);
    const near = floor - ROUNDING * Math.abs(floor);
    const possible = this.headsReaching(user, this.reaching(items, user.length * (1 + ROUNDING), near), near);
    const { floor: highest } = this.lowest(user, possible, count);
    const found: number[] = [];
    for (let at = 0; at < possible; at++) {
      const item = this.which[at];
      if (this.high[at] >= highest && this.added[item] > Number.NEGATIVE_INFINITY) found.push(item);
    }
    return found;
  }

  /**
   * Selects at least `wanted` items, or one per block if there are fewer blocks, which would have the highest scores
   * with typical dot products. Returns their number. The higher the scores of these items, the more of the others
   * `find` can rule out.
   */
  private promising({ length }: Prepared, items: number, wanted: number): number {
    const { maxima, added, reaches } = this;
    const blocks = paddedBlocks(items) / BLOCK;
    const factor = TYPICAL * length;
    this.kernel.run.blockMaxima(
      added.byteOffset,
      reaches.byteOffset,
      blocks * BLOCK,
      factor,
      maxima.byteOffset,
    );
    const floor = nthLowest(maxima.subarray(0, blocks), Math.max(0, blocks - wanted));
    return this.reaching(items, factor, floor);
  }

  /**
   * Selects the items whose score is at least `floor` if their dot product is `factor` times their length. Returns
   * their number.
   */
  private reaching(items: number, factor: number, floor: number): number {
    const { which, added, reaches } = this;
    return this.kernel.run.reaching(
      added.byteOffset,
      reaches.byteOffset,
      paddedBlocks(items),
      factor,
      floor,
      which.byteOffset,
    );
  }

  /** Keeps those of the selected items whose scores can reach `floor`, by the heads of their vectors. */
  private headsReaching({ scale, length, off, tail }: Prepared, selected: number, floor: number): number {
    if (this.stride <= HEAD) return selected;
    const { which, heads, added, scales, errors, tails } = this;
    which.fill(0, selected, paddedRows(selected));
    return this.kernel.run.headBounds(
      heads.byteOffset,
      which.byteOffset,
      selected,
      HEAD,
      this.vector.byteOffset,
      scales.byteOffset,
      scale,
      added.byteOffset,
      errors.byteOffset,
      length,
      tails.byteOffset,
      tail,
      floor - off * this.longest,
    );
  }

  /** Bounds the scores of the selected items. Returns the highest lower bounds. */
  private lowest({ scale, length, off }: Prepared, selected: number, count: number): TopK {
    const { which, low } = this;
    // The kernel reads four items at a time.
    which.fill(0, selected, paddedRows(selected));
    this.kernel.run.scoreBounds(
      this.rows.byteOffset,
      which.byteOffset,
      selected,
      this.stride,
      this.vector.byteOffset,
      this.scales.byteOffset,
      scale,
      this.added.byteOffset,
      this.errors.byteOffset,
      length,
      this.lengths.byteOffset,
      off,
      ROUNDING,
      low.byteOffset,
      this.high.byteOffset,
    );
    const lowest = new TopK(count);
    for (let at = 0; at < selected; at++) if (low[at] > lowest.floor) lowest.add(which[at], low[at]);
    return lowest;
  }

  /** Copies a user vector. */
  private prepared(vector: Float32Array): Prepared {
    const scale = largestOf(vector) / LARGEST_USER;
    let [off, tail] = [0, 0];
    for (let k = 0; k < this.stride; k++) {
      const value = vector[this.order[k]];
      const copy = scale > 0 ? Math.round(value / scale) : 0;
      this.vector[k] = copy;
      off += (value - copy * scale) ** 2;
      if (k >= HEAD) tail += value ** 2;
    }
    return { scale, length: norm(vector), off: Math.sqrt(off), tail: Math.sqrt(tail) };
  }
}

/** The copy of a user vector. */
interface Prepared {
  readonly scale: number;
  /** Length of the vector. */
  readonly length: number;
  /** Length of the difference between the vector and its copy. */
  readonly off: number;
  /** Length of the vector without its head. */
  readonly tail: number;
}

/** Number of vectors that `byEnergy` reads. */
const SOME = 4096;

/** Returns the places of a vector, those with the largest numbers first. */
function byEnergy(vectors: Float32Array, stride: number): Uint32Array {
  const energy = new Float64Array(stride);
  const step = stride * Math.ceil(vectors.length / stride / SOME);
  for (let from = 0; from < vectors.length; from += step)
    for (let k = 0; k < stride; k++) energy[k] += vectors[from + k] * vectors[from + k];
  return Uint32Array.from(energy.keys()).sort((a, b) => energy[b] - energy[a] || a - b);
}

function paddedBlocks(items: number): number {
  return Math.ceil(items / BLOCK) * BLOCK;
}

function largestOf(vector: Float32Array): number {
  let largest = 0;
  for (let k = 0; k < vector.length; k++) largest = Math.max(largest, Math.abs(vector[k]));
  return largest;
}
