import type { FeatureSpace, Features } from "../attributes";
import { dot, norm } from "../linear-algebra";

/** Facts about items that candidates are ranked by. Nothing is known about indices beyond the last item. */
export interface KnownItems {
  /** Recent users of an item. Earlier ones count less. */
  lateOf(item: number): number;
  /** Time since an item was first chosen: the logarithm of the days. */
  ageOf(item: number): number;
  /** Mean of the attribute features over all pairs. */
  readonly usual: Float32Array;
  /** Number of users of an item. */
  usersOf(item: number): number;
  vectorOf(item: number): Float32Array;
  /** Mapping from attributes to features; null if there are no attributes. */
  readonly space: FeatureSpace | null;
  featuresOf(item: number): Features | undefined;
}

/** A generator's list for a user, best first. */
export interface Candidates {
  readonly items: readonly number[];
  readonly scores: ArrayLike<number>;
  /** Items that the user has. */
  readonly own: readonly number[];
  /** The user's last items, latest first. */
  readonly latest: ArrayLike<number>;
}

/** Returns the number of features of a candidate. */
export function rankingFeatures(space: FeatureSpace | null): number {
  return OTHERS + 2 * numbersOf(space).length;
}

/** Number of features besides those of numerical attributes. */
const OTHERS = 7;
/** Limit of the numerical attributes that have features. */
const MOST_NUMBERS = 8;
/** Weight of each of the user's last items, relative to the next later one. */
const DECAY = 0.8;

/**
 * Computes the features of candidates, one candidate after another. Each feature is standardized over the list.
 * In this order: the generator's score, its rank, popularity, recent popularity, age, affinity (how much more this user
 * chooses the item's attributes than all users do), and similarity to the user's last items. For each numerical
 * attribute, two more: its value, and its distance from the mean of the user's items.
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

/** Returns the weighted mean direction of the user's last items; null if none has a vector. */
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

/** Scales a feature to mean 0 and deviation 1, which makes lists of different users and generators comparable. */
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
