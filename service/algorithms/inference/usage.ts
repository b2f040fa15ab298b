import type { Interactions } from "../interactions";
import type { TrainedModel } from "../training/model";
import { Recommender } from "./recommender";
import { servable } from "./servable";

/** Number of recommendations that are used in place of events if a user has none. */
const STAND_IN = 20;

/** Shares that differ by less than this count as equal, because sums of 32-bit weights have rounding errors. */
const TOLERANCE = 1e-6;

/**
 * A histogram of usage: `counts[k]` users have a usage from `edges[k]` up to `edges[k + 1]`. The last bin includes its
 * upper edge.
 */
export interface Histogram {
  readonly edges: number[];
  readonly counts: number[];
}

/**
 * Returns a function that computes each user's usage of an attribute value, given the items that have the value. Usage
 * is the share, from 0 to 1, of the user's event weight that is on these items. For a user without events, it is the
 * share of the first 20 recommendations that are such items.
 */
export function usageReader(model: TrainedModel): (items: Iterable<number>) => Float64Array {
  const recommended = new Map<number, number[]>();
  let recommender: Recommender | undefined;
  const recommendedTo = (user: number): number[] => {
    let top = recommended.get(user);
    if (!top) {
      // Usage is about preferences, so diversity and popularity penalty do not apply.
      recommender ??= new Recommender(servable({ ...model, exposure: undefined }));
      top = recommender.top(recommender.preferencesOf(user), STAND_IN);
      recommended.set(user, top);
    }
    return top;
  };
  return (items) => {
    const having = new Uint8Array(model.items);
    for (const item of items) having[item] = 1;
    return observedShares(model.interactions, having).map((share, user) => {
      if (!Number.isNaN(share)) return share;
      const top = recommendedTo(user);
      return top.reduce((sum, item) => sum + having[item], 0) / Math.max(1, top.length);
    });
  };
}

/** Returns the users whose usage is within the bounds, including the bounds. Null means no bound. */
export function usersWithin(usage: Float64Array, lower: number | null, upper: number | null): number[] {
  const users: number[] = [];
  usage.forEach((share, user) => {
    if (share >= (lower ?? 0) - TOLERANCE && share <= (upper ?? 1) + TOLERANCE) users.push(user);
  });
  return users;
}

/** Counts users by usage in bins of equal width from 0 to 1. */
export function histogramOf(usage: Float64Array, bins = 20): Histogram {
  const counts = new Array<number>(bins).fill(0);
  for (const share of usage) {
    const bin = Math.min(bins - 1, Math.floor((share + TOLERANCE) * bins));
    counts[bin] += 1;
  }
  return { edges: Array.from({ length: bins + 1 }, (_, edge) => edge / bins), counts };
}

function observedShares(of: Interactions, having: Uint8Array): Float64Array {
  return Float64Array.from({ length: of.users }, (_, user) => {
    let total = 0;
    let part = 0;
    for (let at = of.start[user]; at < of.start[user + 1]; at++) {
      total += of.weight[at];
      if (having[of.index[at]]) part += of.weight[at];
    }
    return total > 0 ? part / total : Number.NaN;
  });
}
