import type { FeatureSpace, Features } from "../attributes";
import { dot, norm } from "../linear-algebra";

/** What is known of items; places beyond the last one are items of which nothing is. */
export interface KnownItems {
  /** Users who chose an item of late. */
  lateOf(item: number): number;
  /** How long ago an item was first chosen: the logarithm of the days. */
  ageOf(item: number): number;
  /** The mean of the features of attributes over all pairs. */
  readonly usual: Float32Array;
  /** How many users had an item. */
  usersOf(item: number): number;
  /** The vector of an item. */
  vectorOf(item: number): Float32Array;
  /** What its attributes are, in the space; null without attributes. */
  readonly space: FeatureSpace | null;
  featuresOf(item: number): Features | undefined;
}

/** A list that a generator has made for a user, best first. */
export interface Candidates {
  readonly items: readonly number[];
  readonly scores: ArrayLike<number>;
  /** What the user has, and what he had last, the latest first. */
  readonly own: readonly number[];
  readonly latest: ArrayLike<number>;
}

/** How many features a candidate has. */
export function rankingFeatures(space: FeatureSpace | null): number {
  return OTHERS + 2 * numbersOf(space).length;
}

/** Features that come of no number among the attributes. */
const OTHERS = 7;
/** Numerical attributes that count. */
const MOST_NUMBERS = 8;
/** How much an item counts against the one that came after it. */
const DECAY = 0.8;

/**
 * The features of candidates: the generator's score and rank, how many chose the item at all and of late, since when it
 * is there, how far its attributes are what this user chooses more than others do, how near it is to his last items, and
 * of each number among the attributes its value and how far that is from what he chooses. Each is scaled over the list.
 * They stand one after another, candidate by candidate.
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
  for (let k = 0; k < size; k++) scale(features, k, size);
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

/** Where the last items lie, all taken together. */
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

/** Scales one feature of all candidates to a mean of 0 and a deviation of 1: lists of different users and generators are alike then. */
function scale(features: Float64Array, feature: number, step: number): void {
  const count = features.length / step;
  let sum = 0;
  for (let at = feature; at < features.length; at += step) sum += features[at];
  const mean = sum / count;
  let squares = 0;
  for (let at = feature; at < features.length; at += step) squares += (features[at] - mean) ** 2;
  const deviation = Math.sqrt(squares / count) || 1;
  for (let at = feature; at < features.length; at += step) features[at] = (features[at] - mean) / deviation;
}
