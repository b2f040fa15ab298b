import type { FeatureSpace, Features } from "../attributes";
import { dot, norm } from "../linear-algebra";

/** Facts about items, to compute the features of candidates. An index after the last item is an unknown item. */
export interface KnownItems {
  /** Returns the number of recent users of an item. Earlier users count less. */
  lateOf(item: number): number;
  /** Returns the age of an item: the logarithm of the days since it was first chosen. */
  ageOf(item: number): number;
  /** Mean of the items' attribute features over all pairs. */
  readonly usual: Float32Array;
  /** Number of users of an item. */
  usersOf(item: number): number;
  vectorOf(item: number): Float32Array;
  /** Mapping from attributes to features; null if there are no attributes. */
  readonly space: FeatureSpace | null;
  featuresOf(item: number): Features | undefined;
}

/** A generator's candidates for a user, best first. */
export interface Candidates {
  readonly items: readonly number[];
  readonly scores: ArrayLike<number>;
  /** Items that the user has. */
  readonly own: readonly number[];
  /** The items that the user chose last, latest first. */
  readonly latest: ArrayLike<number>;
}

/** Returns the number of features of a candidate. */
export function rankingFeatures(space: FeatureSpace | null): number {
  return OTHERS + 2 * numbersOf(space).length;
}

/** Number of features, without those of numerical attributes. */
const OTHERS = 7;
/** Maximum number of numerical attributes that become features. */
const MOST_NUMBERS = 8;
/** Factor by which the weight of a user's last items falls from each item to the next older one. */
const DECAY = 0.8;

/**
 * Computes the features of candidates, one candidate after another. Each feature is standardized over the list. The
 * features are, in this order: the generator's score, its rank, popularity, recent popularity, age, affinity, and
 * similarity to the user's last items. Affinity is how much more this user chooses the item's attributes than all users
 * do. Each numerical attribute adds two features: its value, and its distance from the mean of the user's items.
 */
export function candidateFeatures(of: KnownItems, { items, scores, own, latest }: Candidates): Float64Array {
  const { space, usual } = of;
  const numbers = numbersOf(space);
  const numberPlaces = new Set(numbers.map(({ at }) => at));
  const profile = profileOf(of, own);
  const direction = directionOf(of, latest);
  const size = rankingFeatures(space);
  const features = new Float64Array(items.length * size);
  items.forEach((item, place) => {
    const { places = [], values = [] } = of.featuresOf(item) ?? {};
    let affinity = 0;
    places.forEach((at, k) => {
      if (!numberPlaces.has(at)) affinity += (profile[at] - usual[at]) * values[k];
    });
    const valueAt = (at: number) => values[places.indexOf(at)] ?? 0;
    const row = [
      scores[place],
      Math.log(place + 1),
      Math.log1p(of.usersOf(item)),
      Math.log(of.lateOf(item) + 0.1),
      of.ageOf(item),
      affinity,
      direction ? cosine(direction, of.vectorOf(item)) : 0,
    ];
    for (const { at } of numbers) row.push(valueAt(at), Math.abs(valueAt(at) - profile[at]));
    features.set(row, place * size);
  });
  for (let k = 0; k < size; k++) standardize(features, k, size);
  return features;
}

function numbersOf(space: FeatureSpace | null): FeatureSpace["attributes"] {
  return (space?.attributes ?? []).filter(({ kind }) => kind === "NUMERICAL").slice(0, MOST_NUMBERS);
}

function profileOf({ space, featuresOf }: KnownItems, own: readonly number[]): Float64Array {
  const profile = new Float64Array(space?.size ?? 0);
  for (const item of own) {
    const { places = [], values = [] } = featuresOf(item) ?? {};
    places.forEach((at, k) => {
      profile[at] += values[k] / own.length;
    });
  }
  return profile;
}

/** Returns the weighted sum of the directions of the user's last items; null if none of them has a vector. */
function directionOf({ vectorOf }: KnownItems, latest: ArrayLike<number>): Float64Array | null {
  let direction: Float64Array | null = null;
  for (let place = 0; place < latest.length; place++) {
    const vector = vectorOf(latest[place]);
    const length = norm(vector);
    if (length === 0) continue;
    const sum: Float64Array = direction ?? new Float64Array(vector.length);
    for (let k = 0; k < sum.length; k++) sum[k] += (DECAY ** place * vector[k]) / length;
    direction = sum;
  }
  return direction;
}

function cosine(direction: Float64Array, vector: Float32Array): number {
  const length = norm(vector);
  return length === 0 ? 0 : dot(vector, direction) / length;
}

/** Scales a feature to mean 0 and standard deviation 1, to make lists of different users and generators comparable. */
function standardize(features: Float64Array, feature: number, step: number): void {
  const count = features.length / step;
  let sum = 0;
  for (let at = feature; at < features.length; at += step) sum += features[at];
  const mean = sum / count;
  let squares = 0;
  for (let at = feature; at < features.length; at += step) squares += (features[at] - mean) ** 2;
  const deviation = Math.sqrt(squares / count) || 1;
  for (let at = feature; at < features.length; at += step) features[at] = (features[at] - mean) / deviation;
}
