import { type Choice, isChosen } from "./choice";

/** Maximum number of candidates that are cached for a user, or for an item. */
export const maxCachedCandidates = 200;

/** Items with their scores, best first. */
export interface Candidates {
  readonly items: number[];
  readonly scores: number[];
}

/** The best items without the restrictions of a call, kept for later calls. */
export interface CachedCandidates {
  readonly items: Uint32Array;
  readonly scores: Float32Array;
  /** The number of candidates that were requested. The model may have found fewer. */
  readonly wanted: number;
  /** The model's count of changes when the candidates were computed. */
  readonly changes: number;
  /** Which items the rules of the deployment allowed and preferred. */
  readonly stamp: string | undefined;
}

/** Whether cached candidates are still the best ones. */
export function isCurrent(
  cached: CachedCandidates | undefined,
  changes: number,
  choice: Choice | undefined,
): cached is CachedCandidates {
  return cached?.changes === changes && cached.stamp === choice?.standing?.stamp;
}

/** Returns the best of the cached candidates that are in a choice; undefined if there may be others. */
export function chosenFrom(
  { items, scores, wanted: known }: CachedCandidates,
  wanted: number,
  choice: Choice | undefined,
): Candidates | undefined {
  const isComplete = items.length < known;
  if (!choice) {
    if (known < wanted && !isComplete) return undefined;
    return { items: [...items.subarray(0, wanted)], scores: [...scores.subarray(0, wanted)] };
  }
  const places = Array.from(items.keys()).filter((place) => isChosen(choice, items[place] as number));
  if (places.length < wanted && !isComplete) return undefined;
  const first = places.slice(0, wanted);
  return {
    items: first.map((place) => items[place] as number),
    scores: first.map((place) => scores[place] as number),
  };
}
