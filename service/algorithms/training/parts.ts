import type { Interactions } from "../interactions";

/** Number of parts of a step. It is the same for any number of threads, so sums are rounded in the same way. */
export const PARTS = 24;

/** Fixed cost of a row, in entries. */
const ROW_COST = 8;

/** Divides rows into parts that take about the same time. Returns the first row of each part, and the end. */
export function boundsOf({ users, start }: Interactions): Uint32Array {
  const bounds = new Uint32Array(PARTS + 1).fill(users);
  const costUpTo = (row: number) => start[row] + ROW_COST * row;
  const total = costUpTo(users);
  let part = 0;
  for (let row = 0; row < users; row++) {
    while (part < PARTS && costUpTo(row) >= (total * part) / PARTS) bounds[part++] = row;
  }
  return bounds;
}
