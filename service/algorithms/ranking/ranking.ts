// algorithms/ranking/ reorders the candidates of a generator, by weights that a training has learned.

/** Learned weights, and facts about items and users, that a ranker needs besides its vectors and item counts. */
export interface Ranking {
  /**
   * One weight for each feature. Empty if ranking did not improve the held-out quality. Then candidates keep their
   * order.
   */
  readonly weights: readonly number[];
  /** Number of recent users of each item. Earlier users count less. */
  readonly late: Float32Array;
  /** Age of each item: the logarithm of the days since it was first chosen. */
  readonly age: Float32Array;
  /** The last items of each user, latest first: `LATEST` elements each, padded with `NONE`. */
  readonly latest: Uint32Array;
  /** Mean of the items' attribute features over all pairs. */
  readonly usual: Float32Array;
}

/**
 * Returns a ranking that keeps the order of candidates. Its arrays are new, because transferring them to a thread
 * detaches them.
 */
export function unchanged(): Ranking {
  const none = () => new Float32Array(0);
  return { weights: [], late: none(), age: none(), latest: new Uint32Array(0), usual: none() };
}

/** Number of candidates that a ranking reorders. */
export const CANDIDATES = 100;
/** Number of last items that are stored for each user. */
export const LATEST = 10;
/** Index that means no item. */
export const NONE = 0xffffffff;

/** Returns the last items of a user. */
export function latestOf({ latest }: Pick<Ranking, "latest">, user: number): Uint32Array {
  return latest.subarray(user * LATEST, (user + 1) * LATEST).filter((item) => item !== NONE);
}

/** Restricts a ranking to some of the users. */
export function rankingOf(ranking: Ranking, users: Uint32Array): Ranking {
  if (ranking.weights.length === 0) return ranking;
  const latest = new Uint32Array(users.length * LATEST);
  users.forEach((user, at) => {
    latest.set(ranking.latest.subarray(user * LATEST, (user + 1) * LATEST), at * LATEST);
  });
  return { ...ranking, latest };
}

/**
 * Sorts candidates by their weighted features. Candidates with equal scores keep their order.
 * @param factors factor for the odds of each candidate
 */
export function ranked(
  candidates: readonly number[],
  features: Float64Array,
  weights: ArrayLike<number>,
  factors: readonly number[] = [],
): number[] {
  // The weights are those of a logit model, in which a score is the logarithm of odds.
  const score = (place: number) => scoreOf(features, place, weights) + Math.log(factors[place] ?? 1);
  return candidates
    .map((item, place) => ({ item, place, score: score(place) }))
    .sort((a, b) => b.score - a.score || a.place - b.place)
    .map(({ item }) => item);
}

/** Returns the weighted sum of a candidate's features. */
export function scoreOf(features: Float64Array, place: number, weights: ArrayLike<number>): number {
  const from = place * weights.length;
  let sum = 0;
  for (let k = 0; k < weights.length; k++) sum += features[from + k] * weights[k];
  return sum;
}
