import { isPlaced } from "../placed";
import { candidateFeatures, type KnownItems } from "./features";
import { CANDIDATES } from "./ranking";

/** A generator's list for a user, best first, and what the user has. */
export interface Generated {
  /** In the places of the ranker; `NONE` for an item that it does not know. */
  readonly items: readonly number[];
  /** The generator's score of each item. */
  readonly scores: ArrayLike<number>;
  /** The items that the user has. */
  readonly own: readonly number[];
  /** The last items that the user had, the latest first. */
  readonly latest: ArrayLike<number>;
}

/** The part of a list that a ranking puts in order. */
export interface Rankable {
  /** Which places of the list, in their order. */
  readonly places: readonly number[];
  /** Their features, one place after another. */
  readonly features: Float64Array;
}

/**
 * Finds the part of a generator's list that a ranking orders, and its features. Both the training and the service call
 * this, so the weights are applied to the features they were learned from. Items that the generator knows nothing about
 * are left out: their score would make all others look alike once the scores of a list are scaled.
 */
export function rankable(known: KnownItems, { items, scores, own, latest }: Generated): Rankable {
  const places = Array.from(items.keys())
    .filter((place) => isPlaced(scores[place]))
    .slice(0, CANDIDATES);
  const has = new Set(own);
  const features = candidateFeatures(known, {
    items: places.map((place) => items[place]),
    scores: places.map((place) => scores[place]),
    own,
    latest: Array.from(latest).filter((item) => has.has(item)),
  });
  return { places, features };
}
