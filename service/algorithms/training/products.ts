import { type KernelMemory, kernelOn } from "../kernel";
import { norm } from "../linear-algebra";
import { TopK } from "../top";

/** Items in descending order of vector length. */
export interface ItemsByLength {
  /** Items to search. May leave out the items with the shortest vectors. */
  readonly items: Uint32Array;
  /** Vector lengths of all items, in this order. */
  readonly lengths: Float32Array;
  /** Vectors of all items, in this order. */
  readonly vectors: Float32Array;
}

/**
 * Size of a block of item vectors, in floats. After each block, the search stops if the remaining vectors are too
 * short.
 */
const BLOCK_FLOATS = 2 ** 12;

/**
 * Rounding can make the dot product of 32-bit vectors larger than the product of their lengths, by less than this
 * factor.
 */
const ROUNDING = 1.0001;

/**
 * Returns a function that finds a user's best items by the dot products of vectors. It starts with the longest vectors,
 * and stops when no remaining product can be among the best.
 */
export function bestByProducts(
  of: { readonly memory: KernelMemory; readonly stride: number; readonly userVectors: Float32Array },
  { items, lengths, vectors }: ItemsByLength,
  scratch: Float32Array,
  count: number,
): (user: number, excluded: Uint32Array) => TopK {
  const { memory, stride, userVectors } = of;
  const kernel = kernelOn(memory);
  const rows = Math.max(4, Math.floor(BLOCK_FLOATS / stride / 4) * 4);
  const isExcluded = new Uint8Array(lengths.length);
  const scores = scratch.subarray(0, rows);
  return (user, excluded) => {
    const vector = userVectors.subarray(user * stride, (user + 1) * stride);
    const length = norm(vector) * ROUNDING;
    const top = new TopK(count);
    for (const item of excluded) isExcluded[item] = 1;
    for (let row = 0; row < items.length && !(length * lengths[row] < top.floor); row += rows) {
      const size = Math.min(rows, items.length - row);
      const at = vectors.byteOffset + row * stride * 4;
      kernel.scores(at, size, stride, vector.byteOffset, scores.byteOffset);
      for (let place = 0; place < size; place++) {
        const item = items[row + place];
        if (scores[place] >= top.floor && isExcluded[item] === 0) top.add(item, scores[place]);
      }
    }
    for (const item of excluded) isExcluded[item] = 0;
    return top;
  };
}
