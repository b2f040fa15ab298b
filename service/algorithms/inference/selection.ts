import { penalized } from "../exposure";
import { isPlaced } from "../placed";

/** A factor for the scores of some items. */
export interface Weight {
  /** Numbers of the items, ascending. */
  readonly items: Uint32Array;
  readonly factor: number;
}

/** The items to choose from, and which of them to prefer. */
export interface Selection {
  /** The only items to choose from, ascending; undefined for all. */
  readonly among?: Uint32Array | undefined;
  readonly weights?: readonly Weight[] | undefined;
}

/**
 * Multiplies a score. A negative score is divided instead, so a factor above 1 always moves an item up.
 * Items without a vector stay last.
 */
export function weighed(score: number, factor = 1): number {
  return isPlaced(score) ? penalized(score, factor) : score;
}

/** Applies `weighed` to the scores of all items that have a factor. */
export function weigh(scores: Float32Array, weights: readonly Weight[] = []): void {
  for (const { items, factor } of weights)
    for (const item of items) scores[item] = weighed(scores[item], factor);
}

/** Whether an ascending list contains a number. */
export function contains(list: Uint32Array, wanted: number): boolean {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return list[low] === wanted;
}

/** Returns the product of the factors of an item. */
export function factorOf(item: number, weights: readonly Weight[] = []): number {
  return weights.reduce(
    (product, { items, factor }) => (contains(items, item) ? product * factor : product),
    1,
  );
}
