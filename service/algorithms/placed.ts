/** Score of an item without a vector: lower than the score of any item with a vector. */
export const UNPLACED = -1e30;

/** Returns whether a score belongs to an item with a vector. */
export function isPlaced(score: number): boolean {
  return score > UNPLACED / 2;
}
