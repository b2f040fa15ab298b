import { isPlaced } from "../placed";
import { candidateFeatures, type KnownItems } from "./features";
import { CANDIDATES } from "./ranking";

/** A generator's candidates for a user, best first, and the user's items. */
export interface Generated {
  /** Item indices in the ranker model; `NONE` for an item that this model does not know. */
  readonly items: readonly number[];
  /** Scores of the generator. */
  readonly scores: ArrayLike<number>;
  /** Items that the user has. */
  readonly own: readonly number[];
  /** The items that the user chose last, latest first. */
  readonly latest: ArrayLike<number>;
}

/** The part of a list that a ranking reorders. */
export interface Rankable {
  /** Positions of these candidates in the list, ascending. */
  readonly places: readonly number[];
  /** Features of these candidates, one after another. */
  readonly features: Float64Array;
}

/**
 * Returns the part of a generator's list that a ranking reorders, with its features. Training and serving both call
 * this, so weights are applied to the features that they were learned from. Items without a vector are left out: next
 * to their extreme score, all other scores would look equal after scaling.
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
