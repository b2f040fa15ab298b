import { arrayBytes, Kernel, paddedRows } from "../kernel";

/** Number of items to reserve memory for, in addition to one eighth of the existing items. */
const SPARE_ITEMS = 64;

/** Allocates memory for the item vectors, one user vector, and the scores. */
export function allocateScores(items: number, stride: number) {
  const rows = paddedRows(items + (items >> 3) + SPARE_ITEMS);
  const kernel = new Kernel(arrayBytes(rows * stride) + arrayBytes(stride) + arrayBytes(rows));
  return {
    kernel,
    itemVectors: kernel.floats(rows * stride),
    vector: kernel.floats(stride),
    out: kernel.floats(rows),
  };
}
