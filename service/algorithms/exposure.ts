import { dot, norm } from "./linear-algebra";

/** Settings that change which items are shown. They are never chosen by the parameter search, only by the caller. */
export interface ExposureRule {
  /** How far an item moves down if it is similar to items above it: 0 ignores similarity, 1 considers nothing else. */
  readonly diversity: number;
  /**
   * How much the score of an item falls with its number of users: at 1, it is divided by the square root of that
   * number.
   */
  readonly popularityPenalty: number;
}

/** Statistics of the items that a model shows, measured on the first 20 items of a sample of its users. */
export interface Exposure {
  /** Share of all items that at least one of these users is shown. */
  readonly coverage20: number;
  /** Share of the shown items that are cold, which means that few users have chosen them. */
  readonly coldItems20: number;
  /** One minus the mean cosine similarity of the item vectors in a list. */
  readonly diversity20: number;
  /** Mean popularity rank of the shown items: 0 for the least popular item, 1 for the most popular one. */
  readonly shownPopularity20: number;
  /** Mean popularity rank of the items that these users have chosen. */
  readonly chosenPopularity: number;
}

/** Returns the exposure settings in the parameters; undefined if they change nothing. */
export function exposureRule({
  diversity = 0,
  popularityPenalty = 0,
}: Partial<ExposureRule>): ExposureRule | undefined {
  return diversity > 0 || popularityPenalty > 0 ? { diversity, popularityPenalty } : undefined;
}

/** Returns the factor by which the popularity penalty multiplies the score of an item with this number of users. */
export function penaltyOf(users: number, popularityPenalty: number): number {
  return Math.max(1, users) ** (-popularityPenalty / 2);
}

/** Applies a penalty factor to a score. A negative score is divided by the factor, so it becomes lower too. */
export function penalized(score: number, penalty: number): number {
  return score > 0 ? score * penalty : score / penalty;
}

/** Number of candidates that are reordered for diversity. */
export const DIVERSIFIED = 100;

/**
 * Reorders items for diversity by maximal marginal relevance (Carbonell, Goldstein, 1998): each item is chosen
 * to rank high and to differ from the items above it. It uses ranks instead of scores, so it works for any order.
 */
export function diversified(
  order: readonly number[],
  limit: number,
  diversity: number,
  vectorOf: (item: number) => Float32Array,
): number[] {
  const left = order.slice(0, DIVERSIFIED).map((item, place) => ({
    item,
    vector: unit(vectorOf(item)),
    similarity: 0,
    relevance: 1 - place / DIVERSIFIED,
  }));
  const chosen: number[] = [];
  while (left.length > 0 && chosen.length < limit) {
    const value = ({ relevance, similarity }: (typeof left)[number]) =>
      (1 - diversity) * relevance - diversity * similarity;
    const best = left.reduce((a, b) => (value(b) > value(a) ? b : a));
    left.splice(left.indexOf(best), 1);
    chosen.push(best.item);
    for (const other of left) other.similarity = Math.max(other.similarity, dot(other.vector, best.vector));
  }
  return [...chosen, ...order.slice(DIVERSIFIED)].slice(0, limit);
}

/** Returns the mean cosine similarity over all pairs of vectors. */
export function meanCosine(vectors: readonly Float32Array[]): number {
  const units = vectors.map(unit);
  let sum = 0;
  units.forEach((one, at) => {
    for (const other of units.slice(at + 1)) sum += dot(one, other);
  });
  return sum / Math.max(1, (units.length * (units.length - 1)) / 2);
}

function unit(vector: Float32Array): Float32Array {
  const length = norm(vector);
  return length > 0 ? vector.map((value) => value / length) : vector;
}
