import { arrayBytes, Kernel, paddedRows } from "../kernel";

/** Room for items that come later, beside one for every eight that are there. */
const SPARE_ITEMS = 64;

/** Memory for the vectors of so many items, one of a user, and the scores. */
export function roomFor(items: number, stride: number) {
  const rows = paddedRows(items + (items >> 3) + SPARE_ITEMS);
  const kernel = new Kernel(arrayBytes(rows * stride) + arrayBytes(stride) + arrayBytes(rows));
  return {
    kernel,
    itemVectors: kernel.floats(rows * stride),
    vector: kernel.floats(stride),
    out: kernel.floats(rows),
  };
}
