/** The score of an item that a model knows nothing about: below every other score. */
export const UNPLACED = -1e30;

/** Whether a score belongs to an item that the model knows something about. */
export function isPlaced(score: number): boolean {
  return score > UNPLACED / 2;
}
