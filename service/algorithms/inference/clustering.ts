import type { AttributeValue } from "../attributes";
import { createRandom, sample } from "../random";
import type { TrainedModel } from "../training/model";
import { kMeans, type Partition, type Points, silhouette } from "./k-means";

/** An item attribute value that is more common in the events of a group than in those of all users. */
export interface Marker {
  readonly attribute: string;
  readonly value: string;
  /** Share of the group's event weight that is on items with this value. */
  readonly share: number;
  /** Share of all users' event weight that is on items with this value. */
  readonly overallShare: number;
  /** share / overallShare. */
  readonly lift: number;
}

/** A group of users with similar preferences. */
export interface UserGroup {
  readonly size: number;
  readonly members: number[];
  readonly markers: Marker[];
}

const MAX_GROUPS = 12;
/** Size of the sample of users on which the number of groups is chosen. */
const SAMPLE = 3000;
const RESTARTS = 3;
const MAX_MARKERS = 10;
const SEED = 7;

/**
 * Groups users by the direction in which their vectors differ from the mean vector. Chooses the number of groups with
 * the best silhouette. Drops groups smaller than `minUserNum`. Returns the largest group first.
 */
export function clusterUsers(
  model: TrainedModel,
  values: readonly AttributeValue[],
  minUserNum: number,
): UserGroup[] {
  const { users, points } = userDirections(model);
  if (users.length === 0) return [];
  const partition = bestPartition(points, minUserNum);
  const members = Array.from({ length: partition.k }, () => [] as number[]);
  users.forEach((user, at) => {
    members[partition.group[at]]?.push(user);
  });
  const kept = members
    .filter((group) => group.length > 0 && group.length >= minUserNum)
    .sort((a, b) => b.length - a.length || a[0] - b[0]);
  const markersOf = markerFinder(model, values);
  return kept.map((group) => ({ size: group.length, members: group, markers: markersOf(group) }));
}

function userDirections({ stride, users, userVectors }: TrainedModel): { users: number[]; points: Points } {
  const known: number[] = [];
  const mean = new Float64Array(stride);
  for (let user = 0; user < users; user++) {
    const vector = userVectors.subarray(user * stride, (user + 1) * stride);
    if (vector.every((value) => value === 0)) continue;
    known.push(user);
    vector.forEach((value, k) => {
      mean[k] += value;
    });
  }
  const values = new Float32Array(known.length * stride);
  known.forEach((user, at) => {
    let norm = 0;
    for (let k = 0; k < stride; k++) {
      const value = userVectors[user * stride + k] - mean[k] / known.length;
      values[at * stride + k] = value;
      norm += value * value;
    }
    if (norm === 0) return;
    for (let k = 0; k < stride; k++) values[at * stride + k] /= Math.sqrt(norm);
  });
  return { users: known, points: { count: known.length, stride, values } };
}

function bestPartition(points: Points, minUserNum: number): Partition {
  const random = createRandom(SEED);
  const { stride, values } = points;
  const picked = sample(random, points.count, SAMPLE);
  const some: Points = { count: picked.length, stride, values: new Float32Array(picked.length * stride) };
  picked.forEach((point, at) => {
    some.values.set(values.subarray(point * stride, (point + 1) * stride), at * stride);
  });
  const largest = Math.min(MAX_GROUPS, Math.floor(points.count / Math.max(1, minUserNum)), points.count - 1);
  let best = 1;
  let bestSilhouette = 0;
  for (let k = 2; k <= largest; k++) {
    const found = silhouette(some, bestOf(some, k));
    if (found > bestSilhouette) {
      best = k;
      bestSilhouette = found;
    }
  }
  return bestOf(points, best);
}

function bestOf(points: Points, k: number): Partition {
  const random = createRandom(SEED + k);
  let best = kMeans(points, k, random);
  for (let restart = 1; restart < RESTARTS; restart++) {
    const other = kMeans(points, k, random);
    if (other.spread < best.spread) best = other;
  }
  return best;
}

function markerFinder({ interactions, items }: TrainedModel, values: readonly AttributeValue[]) {
  const weightsOf = (users: Iterable<number>) => {
    const weights = new Float64Array(items);
    let total = 0;
    for (const user of users) {
      for (let at = interactions.start[user]; at < interactions.start[user + 1]; at++) {
        const item = interactions.index[at];
        weights[item] += interactions.weight[at];
        total += interactions.weight[at];
      }
    }
    return values.map(({ items: having }) => {
      const part = having.reduce((sum, item) => sum + (weights[item] ?? 0), 0);
      return total > 0 ? part / total : 0;
    });
  };
  const overall = weightsOf(Array.from({ length: interactions.users }, (_, user) => user));
  return (members: readonly number[]): Marker[] => {
    const shares = weightsOf(members);
    return (
      values
        .map(({ attribute, value }, at) => {
          const share = shares[at];
          const overallShare = overall[at];
          return { attribute, value, share, overallShare, lift: overallShare > 0 ? share / overallShare : 0 };
        })
        .filter(({ lift }) => lift > 1)
        // Sorting only by lift would favour values that almost nobody uses.
        .sort((a, b) => b.share * Math.log(b.lift) - a.share * Math.log(a.lift))
        .slice(0, MAX_MARKERS)
    );
  };
}
