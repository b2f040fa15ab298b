import type { Interactions } from "../interactions";
import type { TrainedModel } from "../training/model";
import { Recommender } from "./recommender";
import { servable } from "./servable";

/** Recommendations that stand in for the events of a user who has none. */
const STAND_IN = 20;

/** Shares that differ by less are the same: weights are 32-bit numbers, whose sums are a little off. */
const TOLERANCE = 1e-6;

/** A histogram of usage: `counts[k]` users lie from `edges[k]` up to `edges[k + 1]`, the last bin including its end. */
export interface Histogram {
  readonly edges: number[];
  readonly counts: number[];
}

/**
 * Makes the function that gives the usage of an item attribute value by each user, told which items have the value:
 * the share, from 0 to 1, of the weight of the user's target events that went to these items; for a user without
 * events, the share of the first 20 recommendations.
 */
export function usageReader(model: TrainedModel): (items: Iterable<number>) => Float64Array {
  const standIns = new Map<number, number[]>();
  let recommender: Recommender | undefined;
  const standInsOf = (user: number): number[] => {
    let top = standIns.get(user);
    if (!top) {
      // What fits counts, not what is to be shown beside it.
      recommender ??= new Recommender(servable({ ...model, exposure: undefined }));
      top = recommender.top(recommender.preferencesOf(user), STAND_IN);
      standIns.set(user, top);
    }
    return top;
  };
  return (items) => {
    const having = new Uint8Array(model.items);
    for (const item of items) having[item] = 1;
    return observedShares(model.interactions, having).map((share, user) => {
      if (!Number.isNaN(share)) return share;
      const top = standInsOf(user);
      return top.reduce((sum, item) => sum + having[item], 0) / Math.max(1, top.length);
    });
  };
}

/** Users whose usage lies within the bounds, both included; a bound left out does not bind. */
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
