// algorithms/order/ scores items by how often users chose them after a user's last items.

/** How the order of a user's events adds to the scores. */
export interface OrderRule {
  /** Factor of all scores. */
  readonly scale: number;
  /** In the table, two items of a user that are d positions apart have the weight exp(-(d - 1) / distance). */
  readonly distance: number;
  /** Weight of the same pair from the later item to the earlier one. */
  readonly opposite: number;
  /** The item that a user chose at position a, counted from the last one, has the weight exp(-a / recency). */
  readonly recency: number;
  /** Both weights are multiplied by (1 + time between the items / typicalGap) ^ -gapExponent. */
  readonly gapExponent: number;
  /** Median time between two successive items of a user, in milliseconds. */
  readonly typicalGap: number;
  /** A user's item that n users chose has the weight n^-itemExponent. */
  readonly itemExponent: number;
  /** The score of an item that n users chose is multiplied by n^-popularityExponent. */
  readonly popularityExponent: number;
  /** Time of the first event, in milliseconds. Times in the model count from here. */
  readonly firstTime: number;
  /** Unit of the times in the model, in milliseconds. */
  readonly timeStep: number;
}

/** Number of a user's last items that count, and the largest distance between two items of a pair. */
export const LAST = 16;

/**
 * A weight of 1 is stored as this number. Weights are rounded to whole numbers, so subtracting a forgotten user leaves
 * no rounding error.
 */
const AMOUNTS_PER_UNIT = 1024;

/** Returns the factor for the time between two items. */
function gapFactor({ gapExponent, typicalGap, timeStep }: OrderRule, steps: number): number {
  return gapExponent === 0 ? 1 : (1 + (Math.abs(steps) * timeStep) / typicalGap) ** -gapExponent;
}

/** Returns what a pair of items adds to the row of one of them, given how far apart they are. */
export type AmountOf = (distance: number, gap: number, isOtherLater: boolean) => number;

/** Returns a function that weighs pairs. `gap` is the time between the items, in the unit of the model. */
export function amountsOf(rule: OrderRule): AmountOf {
  const weights = Float64Array.from(
    { length: LAST + 1 },
    (_, distance) => Math.exp(-(distance - 1) / rule.distance) * AMOUNTS_PER_UNIT,
  );
  // The order of events at the same time is unknown, so both directions count the same.
  const tied = (1 + rule.opposite) / 2;
  return (distance, gap, isOtherLater) => {
    const direction = gap === 0 ? tied : isOtherLater ? 1 : rule.opposite;
    return Math.round(weights[distance] * direction * gapFactor(rule, gap));
  };
}

/** A user's last items, latest first, and how much each of them counts. */
export interface Sequence {
  readonly items: Uint32Array;
  readonly weights: Float32Array;
}

/** Converts a time in milliseconds to the unit of the model. Times before the first event count as the first. */
export function stepOf(
  { firstTime, timeStep }: Pick<OrderRule, "firstTime" | "timeStep">,
  time: number,
): number {
  return Math.max(0, Math.floor((time - firstTime) / timeStep));
}

/** Returns a user's last items with their weights. `times` are in the unit of the model. */
export function sequenceOf(rule: OrderRule, items: ArrayLike<number>, times: ArrayLike<number>): Sequence {
  const order = latestFirst(items, times).subarray(0, LAST);
  const latest = order.length > 0 ? times[order[0]] : 0;
  return {
    items: Uint32Array.from(order, (at) => items[at]),
    weights: Float32Array.from(
      order,
      (at, age) => Math.exp(-age / rule.recency) * gapFactor(rule, latest - times[at]),
    ),
  };
}

/** Returns positions in descending order of time. Items with equal times are in an arbitrary but fixed order. */
export function latestFirst(items: ArrayLike<number>, times: ArrayLike<number>): Uint32Array {
  const order = new Uint32Array(items.length);
  for (let at = 0; at < order.length; at++) order[at] = at;
  return order.sort(
    (a, b) => times[b] - times[a] || mixed(items[a]) - mixed(items[b]) || items[a] - items[b],
  );
}

/** Hashes an item. Items with equal times must not be ordered by their ids, because ids often reflect age. */
function mixed(item: number): number {
  let bits = Math.imul(item ^ (item >>> 16), 0x45d9f3b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b);
  return (bits ^ (bits >>> 16)) >>> 0;
}
