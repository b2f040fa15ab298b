import { BLOCK, paddedBlocks } from "../blocks";
import { arrayBytes, Kernel, paddedRows } from "../kernel";
import { norm } from "../linear-algebra";

/** Largest number in an 8-bit item vector, and in a 16-bit user vector. Their dot products never exceed 32 bits. */
const [LARGEST_ITEM, LARGEST_USER] = [127, 8191];

/** Bound of the rounding errors of exact scores, relative to the lengths of the vectors. Real errors are far smaller. */
export const ROUNDING = 1e-5;

/** The largest numbers of each vector. Often, bounding the rest of a product by the lengths of the vectors is enough. */
const HEAD = 32;

/** Floats of constants at the start of each record: see `CONSTANTS` in kernel.as. */
const CONSTANTS = 4;

/** Bytes of a record: the constants of an item and the first numbers of its copy. */
const RECORD = 4 * CONSTANTS + HEAD;

/** The copy of a user vector. */
export interface Prepared {
  readonly scale: number;
  /** Length of the vector. */
  readonly length: number;
  /** Length of the difference between the vector and its copy. */
  readonly off: number;
  /** Length of the vector without its head. */
  readonly tail: number;
}

/**
 * 8-bit copies of the item vectors, a quarter of their size. It is known how far each copy is off, so scores computed with
 * the copies bound the exact scores.
 */
export class RoughCopies {
  /** What to add to the dot products, for each item, at least 0. -Infinity leaves an item out. */
  readonly added: Float32Array;
  /** Blocks with items to which something is added. The others are bounded by `blockReaches` without reading their items. */
  private readonly marked: Uint8Array;
  /** Length of each item vector, rounded up. */
  readonly reaches: Float32Array;
  /** The items whose scores are bounded, and the bounds. */
  readonly which: Uint32Array;
  readonly low: Float32Array;
  readonly high: Float32Array;
  /** The highest reach of each block of items. */
  private readonly blockReaches: Float32Array;
  private readonly maxima: Float32Array;
  private readonly kernel: Kernel;
  private readonly rows: Int8Array;
  private readonly vector: Int16Array;
  private readonly records: Int8Array;
  private readonly constants: Float32Array;
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
    const [bytes, recordBytes] = [Math.ceil((rows * stride) / 4), (rows * RECORD) / 4];
    const blocks = rows / BLOCK;
    const perItem = new Array<number>(5).fill(rows);
    const lengths = [bytes, recordBytes, stride, ...perItem, blocks, blocks, Math.ceil(blocks / 4)];
    this.kernel = new Kernel(lengths.reduce((sum, length) => sum + arrayBytes(length), 0));
    const { buffer } = this.kernel.memory;
    this.rows = new Int8Array(buffer, this.kernel.floats(bytes).byteOffset, rows * stride);
    this.constants = this.kernel.floats(recordBytes);
    this.records = new Int8Array(buffer, this.constants.byteOffset, rows * RECORD);
    this.vector = new Int16Array(buffer, this.kernel.floats(stride).byteOffset, stride);
    this.added = this.kernel.floats(rows);
    this.reaches = this.kernel.floats(rows);
    this.which = this.kernel.integers(rows);
    this.low = this.kernel.floats(rows);
    this.high = this.kernel.floats(rows);
    this.maxima = this.kernel.floats(blocks);
    this.blockReaches = this.kernel.floats(blocks);
    this.marked = new Uint8Array(buffer, this.kernel.floats(Math.ceil(blocks / 4)).byteOffset, blocks);
  }

  /** Copies the vectors of all items. Later items have zero vectors until `set` is called. */
  static of(vectors: Float32Array, capacity: number, stride: number): RoughCopies {
    const copies = new RoughCopies(capacity, stride, byEnergy(vectors, stride));
    for (let item = 0; item < capacity; item++)
      copies.set(item, vectors.subarray(item * stride, (item + 1) * stride));
    return copies;
  }

  /** Copies the vector of an item. */
  set(item: number, vector: Float32Array): void {
    const { stride, order, records, rows } = this;
    const scale = largestOf(vector) / LARGEST_ITEM;
    const head = item * RECORD + 4 * CONSTANTS;
    let [off, squares, start, tail] = [0, 0, 0, 0];
    for (let k = 0; k < stride; k++) {
      const value = vector[order[k]];
      const copy = scale > 0 ? Math.round(value / scale) : 0;
      rows[item * stride + k] = copy;
      off += (value - copy * scale) ** 2;
      squares += copy * copy;
      if (k < HEAD) {
        records[head + k] = copy;
        start += value * value;
      } else tail += value * value;
    }
    const length = Math.sqrt(start + tail);
    this.longest = Math.max(this.longest, length);
    this.setReach(item, length * (1 + ROUNDING));
    const error = Math.sqrt(off) + ROUNDING * length;
    const constants = [scale, error, Math.sqrt(squares) * scale, Math.sqrt(tail) * (1 + ROUNDING)];
    this.constants.set(constants, (item * RECORD) / 4);
  }

  private setReach(item: number, reach: number): void {
    const { reaches, blockReaches } = this;
    const block = Math.floor(item / BLOCK);
    const before = reaches[item];
    reaches[item] = reach;
    if (reaches[item] >= blockReaches[block]) blockReaches[block] = reaches[item];
    else if (before === blockReaches[block])
      blockReaches[block] = Math.max(...reaches.subarray(block * BLOCK, (block + 1) * BLOCK));
  }

  /** Copies a user vector. The following calls refer to it. */
  prepare(vector: Float32Array): Prepared {
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

  /** Marks blocks instead of those before. */
  mark(blocks: Uint8Array | undefined): void {
    if (blocks) this.marked.set(blocks.subarray(0, this.marked.length));
    else this.marked.fill(0);
  }

  /**
   * Bounds what is added and `factor` times the length of the vector, for the items of each block. Calls overwrite the array.
   */
  blockMaxima(items: number, factor: number): Float32Array {
    const { added, reaches, blockReaches, marked, maxima } = this;
    const blocks = paddedBlocks(items) / BLOCK;
    this.kernel.run.blockMaxima(
      added.byteOffset,
      reaches.byteOffset,
      blockReaches.byteOffset,
      marked.byteOffset,
      blocks,
      factor,
      maxima.byteOffset,
    );
    return maxima.subarray(0, blocks);
  }

  /**
   * Selects the items whose score is at least `floor` if their dot product is `factor` times their length, without zero
   * vectors. Returns their number.
   */
  selectReaching(items: number, factor: number, floor: number): number {
    const { which, added, reaches, blockReaches, marked } = this;
    return this.kernel.run.reaching(
      added.byteOffset,
      reaches.byteOffset,
      blockReaches.byteOffset,
      marked.byteOffset,
      paddedBlocks(items) / BLOCK,
      factor,
      floor,
      which.byteOffset,
    );
  }

  /** Returns what is added and `factor` times the length of the vector, for some items. */
  typicalScores(items: Uint32Array, factor: number): Float32Array {
    const { added, reaches } = this;
    const values = new Float32Array(items.length);
    for (let at = 0; at < values.length; at++)
      values[at] = (added[items[at]] ?? 0) + factor * (reaches[items[at]] ?? 0);
    return values;
  }

  /** Like `selectReaching`, but selects from some items, ascending. Leaves out items that have no copy yet. */
  selectReachingOf(items: Uint32Array, factor: number, floor: number): number {
    const { which, added, reaches } = this;
    let selected = 0;
    for (let at = 0; at < items.length; at++) {
      const item = items[at];
      const reach = reaches[item];
      if (reach > 0 && added[item] + factor * reach >= floor) which[selected++] = item;
    }
    return selected;
  }

  /** Keeps those of the selected items whose scores can reach `floor`, by the heads of their vectors. */
  keepHeadsReaching({ scale, length, off, tail }: Prepared, selected: number, floor: number): number {
    if (this.stride <= HEAD) return selected;
    const { which, records, added } = this;
    which.fill(0, selected, paddedRows(selected));
    return this.kernel.run.headBounds(
      records.byteOffset,
      which.byteOffset,
      selected,
      HEAD,
      this.vector.byteOffset,
      scale,
      added.byteOffset,
      length,
      tail,
      floor - off * this.longest,
    );
  }

  /**
   * Selects the items whose score, divided by the length of their vector, can reach `floor`, without those that have a zero
   * vector or for which `added` is -Infinity. Returns their number.
   */
  selectClose({ scale, length, off }: Prepared, items: number, floor: number): number {
    const { added, reaches, which } = this;
    return this.kernel.run.closeRows(
      this.rows.byteOffset,
      paddedBlocks(items),
      this.stride,
      this.vector.byteOffset,
      this.records.byteOffset,
      HEAD,
      scale,
      added.byteOffset,
      reaches.byteOffset,
      length,
      off,
      floor,
      which.byteOffset,
    );
  }

  /** Bounds the scores of the selected items: writes `low` and `high`. */
  bound({ scale, length, off }: Prepared, selected: number): void {
    const { which, low } = this;
    // The kernel reads four items at a time.
    which.fill(0, selected, paddedRows(selected));
    this.kernel.run.scoreBounds(
      this.rows.byteOffset,
      which.byteOffset,
      selected,
      this.stride,
      this.vector.byteOffset,
      this.records.byteOffset,
      HEAD,
      scale,
      this.added.byteOffset,
      length,
      off,
      ROUNDING,
      low.byteOffset,
      this.high.byteOffset,
    );
  }
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

function largestOf(vector: Float32Array): number {
  let largest = 0;
  for (let k = 0; k < vector.length; k++) largest = Math.max(largest, Math.abs(vector[k]));
  return largest;
}
