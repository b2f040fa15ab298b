// algorithms/ranking/ puts the candidates of a generator in a better order, by weights that a training has learned.

/** What a model knows to rank candidates by, beside its vectors and counts. */
export interface Ranking {
  /** One for each feature; none where ranking gained nothing on the hold-out: then it changes nothing. */
  readonly weights: readonly number[];
  /** Users who chose each item of late, each counting the less the longer ago that was. */
  readonly late: Float32Array;
  /** How long ago each item was first chosen: the logarithm of the days. */
  readonly age: Float32Array;
  /** The last items of each user, the latest first, `LATEST` places each; those that are left are `NONE`. */
  readonly latest: Uint32Array;
  /** The mean of the features of attributes over all pairs. */
  readonly usual: Float32Array;
}

/** A ranking that changes nothing; each with arrays of its own, for threads hand them over. */
export function unchanged(): Ranking {
  const none = () => new Float32Array(0);
  return { weights: [], late: none(), age: none(), latest: new Uint32Array(0), usual: none() };
}

/** How many of the generator's first candidates are put in a new order. */
export const CANDIDATES = 100;
/** How many of a user's last items count. */
export const LATEST = 10;
/** No item. */
export const NONE = 0xffffffff;

/** The last items of a user by his row. */
export function latestOf({ latest }: Pick<Ranking, "latest">, user: number): Uint32Array {
  return latest.subarray(user * LATEST, (user + 1) * LATEST).filter((item) => item !== NONE);
}

/** The ranking of some of the users. */
export function rankingOf(ranking: Ranking, users: Uint32Array): Ranking {
  if (ranking.weights.length === 0) return ranking;
  const latest = new Uint32Array(users.length * LATEST);
  users.forEach((user, at) => {
    latest.set(ranking.latest.subarray(user * LATEST, (user + 1) * LATEST), at * LATEST);
  });
  return { ...ranking, latest };
}

/** Candidates in the order of their features, which stand one after another, by the weights; those that are equal keep theirs. */
export function ranked(
  candidates: readonly number[],
  features: Float64Array,
  weights: ArrayLike<number>,
): number[] {
  return candidates
    .map((item, place) => ({ item, place, score: scoreOf(features, place, weights) }))
    .sort((a, b) => b.score - a.score || a.place - b.place)
    .map(({ item }) => item);
}

/** What the features of the candidate in a place come to by the weights, of which there are as many as it has features. */
export function scoreOf(features: Float64Array, place: number, weights: ArrayLike<number>): number {
  const from = place * weights.length;
  let sum = 0;
  for (let k = 0; k < weights.length; k++) sum += features[from + k] * weights[k];
  return sum;
}
