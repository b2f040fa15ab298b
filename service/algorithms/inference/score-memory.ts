import { arrayBytes, Kernel, paddedRows } from "../kernel";

/** Memory for items that are added later, besides one for every eight existing items. */
const SPARE_ITEMS = 64;

/** Allocates memory for the vectors of items, the vector of a user, and the scores. */
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
