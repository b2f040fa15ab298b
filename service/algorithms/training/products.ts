import { type KernelMemory, kernelOn } from "../kernel";
import { norm } from "../linear-algebra";
import { TopK } from "../top";

/** The items with the longest vectors first, and their vectors in that order. */
export interface ItemsByLength {
  /** Those that are looked at; the others come behind them. */
  readonly items: Uint32Array;
  /** Of all items. */
  readonly lengths: Float32Array;
  readonly vectors: Float32Array;
}

/** Floats of item vectors that are multiplied before it is looked again whether others can come among the first. */
const BLOCK_FLOATS = 2 ** 12;

/** Products of 32-bit numbers may be greater than those of the lengths by less than this factor. */
const ROUNDING = 1.0001;

/**
 * Finds the first items of a user by the products of the vectors. The longest come first, and once no product with those
 * that are left can be among the first, they are left out.
 */
export function firstOfProducts(
  of: { readonly memory: KernelMemory; readonly stride: number; readonly userVectors: Float32Array },
  { items, lengths, vectors }: ItemsByLength,
  scratch: Float32Array,
  count: number,
): (user: number, had: Uint32Array) => TopK {
  const { memory, stride, userVectors } = of;
  const kernel = kernelOn(memory);
  const rows = Math.max(4, Math.floor(BLOCK_FLOATS / stride / 4) * 4);
  const isHad = new Uint8Array(lengths.length);
  const scores = scratch.subarray(0, rows);
  return (user, had) => {
    const vector = userVectors.subarray(user * stride, (user + 1) * stride);
    const length = norm(vector) * ROUNDING;
    const top = new TopK(count);
    for (const item of had) isHad[item] = 1;
    for (let row = 0; row < items.length && !(length * lengths[row] < top.floor); row += rows) {
      const some = Math.min(rows, items.length - row);
      const at = vectors.byteOffset + row * stride * 4;
      kernel.scores(at, some, stride, vector.byteOffset, scores.byteOffset);
      for (let place = 0; place < some; place++) {
        const item = items[row + place];
        if (scores[place] >= top.floor && isHad[item] === 0) top.add(item, scores[place]);
      }
    }
    for (const item of had) isHad[item] = 0;
    return top;
  };
}
