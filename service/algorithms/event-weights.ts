import type { Interactions } from "./interactions";

/** Weights of the event types other than the target event, by name. The target event has weight 1. */
export type EventWeights = Readonly<Record<string, number>>;

/** How a model uses events of types other than the target event. */
export interface EventRule {
  readonly weights: EventWeights;
  /** Whether to recommend an item to a user who has events on it, but no target event. */
  readonly recommendSeen: boolean;
}

/** The pairs of one event type. */
export interface TypedPairs {
  readonly type: string;
  readonly interactions: Interactions;
}

/**
 * Adds up the pairs of other event types, multiplied by the weight of their type. Returns null if no weight is above 0.
 */
export function weighted(others: readonly TypedPairs[], weights: EventWeights): Interactions | null {
  const parts = others
    .filter(({ type }) => (weights[type] ?? 0) > 0)
    .sort((a, b) => (a.type < b.type ? -1 : 1))
    .map(({ type, interactions }) => ({ of: interactions, by: weights[type] }));
  return parts.length === 0 ? null : sumOfPairs(parts);
}

/** Adds the weighted pairs of other event types to the pairs of the target event. */
export function withOthers(target: Interactions, others: Interactions | null): Interactions {
  if (!others) return target;
  return sumOfPairs([
    { of: target, by: 1 },
    { of: others, by: 1 },
  ]);
}

/**
 * Returns the weight of one pair from the sums of its event values by type. It rounds exactly like the training, so the
 * same events have the same weight in training and in serving.
 */
export function pairWeight(target: number, others: readonly { sum: number; weight: number }[]): number {
  const added = others.reduce((total, { sum, weight }) => total + weight * sum, 0);
  return Math.fround(target + Math.fround(added));
}

/** Adds up the weights of equal pairs. All parts must have the same users and items. */
function sumOfPairs(parts: readonly { readonly of: Interactions; readonly by: number }[]): Interactions {
  const { users, items } = parts[0].of;
  const most = parts.reduce((sum, { of }) => sum + of.index.length, 0);
  const start = new Uint32Array(users + 1);
  const index = new Uint32Array(most);
  const weight = new Float32Array(most);
  const sums = new Float64Array(items);
  const time = parts.every(({ of }) => of.time) ? new Float64Array(most) : undefined;
  const latest = new Float64Array(items);
  let length = 0;
  for (let user = 0; user < users; user++) {
    const from = length;
    for (const { of, by } of parts) {
      for (let at = of.start[user]; at < of.start[user + 1]; at++) {
        const item = of.index[at];
        if (sums[item] === 0) {
          index[length++] = item;
          latest[item] = Number.NEGATIVE_INFINITY;
        }
        if (of.time) latest[item] = Math.max(latest[item], of.time[at]);
        sums[item] += by * of.weight[at];
      }
    }
    for (let at = from; at < length; at++) {
      // The items of each part are in ascending order. Only a mix of several parts can be out of order.
      if (at > from && index[at] < index[at - 1]) {
        index.subarray(from, length).sort();
        break;
      }
    }
    for (let at = from; at < length; at++) {
      if (time) time[at] = latest[index[at]];
      weight[at] = sums[index[at]];
      sums[index[at]] = 0;
    }
    start[user + 1] = length;
  }
  return {
    users,
    items,
    start,
    index: index.slice(0, length),
    weight: weight.slice(0, length),
    time: time?.slice(0, length),
  };
}
