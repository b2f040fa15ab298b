import { type KernelMemory, kernelOn } from "../kernel";
import { norm } from "../linear-algebra";
import { TopK } from "../top";

/** Items in descending order of the lengths of their vectors. */
export interface ItemsByLength {
  /** Items to compare. May leave out the last ones. */
  readonly items: Uint32Array;
  /** Lengths of the vectors of all items, in this order. */
  readonly lengths: Float32Array;
  /** Vectors of all items, in this order. */
  readonly vectors: Float32Array;
}

/** Floats of item vectors that are multiplied between two checks whether the remaining ones are too short. */
const BLOCK_FLOATS = 2 ** 12;

/** Rounding can make a product of 32-bit numbers greater than the product of the lengths, by less than this factor. */
const ROUNDING = 1.0001;

/**
 * Returns a function that finds the best items of a user by the products of vectors. It starts with the longest
 * vectors, and stops when no remaining product can be among the best.
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
