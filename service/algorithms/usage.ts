import type { Interactions } from "./interactions";
import type { TrainedModel } from "./model";
import { Recommender } from "./serving";

/** Recommendations that stand in for the events of a user who has none. */
const STAND_IN = 20;

/** A histogram of usage: `counts[k]` users lie from `edges[k]` up to `edges[k + 1]`, the last bin including its end. */
export interface Histogram {
  readonly edges: number[];
  readonly counts: number[];
}

/**
 * Usage of an item attribute value by each user: the share, from 0 to 1, of the weight of the user's target events
 * that went to items having the value; for a user without events, the share of the first 20 recommendations.
 */
export function usageOf(model: TrainedModel, items: Iterable<number>): Float64Array {
  const having = new Uint8Array(model.items);
  for (const item of items) having[item] = 1;
  const shares = observedShares(model.interactions, having);
  let recommender: Recommender | undefined;
  shares.forEach((share, user) => {
    if (!Number.isNaN(share)) return;
    recommender ??= new Recommender(model);
    const top = recommender.top(recommender.userVector(user), STAND_IN);
    shares[user] = top.reduce((sum, item) => sum + (having[item] as number), 0) / Math.max(1, top.length);
  });
  return shares;
}

/** Users whose usage lies within the bounds, both included; a bound left out does not bind. */
export function usersWithin(usage: Float64Array, lower: number | null, upper: number | null): number[] {
  const users: number[] = [];
  usage.forEach((share, user) => {
    if ((lower === null || share >= lower) && (upper === null || share <= upper)) users.push(user);
  });
  return users;
}

/** Counts users by usage in bins of equal width from 0 to 1. */
export function histogramOf(usage: Float64Array, bins = 20): Histogram {
  const counts = new Array<number>(bins).fill(0);
  for (const share of usage) {
    const bin = Math.max(0, Math.min(bins - 1, Math.floor(share * bins)));
    counts[bin] = (counts[bin] as number) + 1;
  }
  return { edges: Array.from({ length: bins + 1 }, (_, edge) => edge / bins), counts };
}

function observedShares(of: Interactions, having: Uint8Array): Float64Array {
  return Float64Array.from({ length: of.users }, (_, user) => {
    let total = 0;
    let part = 0;
    for (let at = of.start[user] as number; at < (of.start[user + 1] as number); at++) {
      total += of.weight[at] as number;
      if (having[of.index[at] as number]) part += of.weight[at] as number;
    }
    return total > 0 ? part / total : Number.NaN;
  });
}
