import type { Interactions } from "./interactions";

/** `linear`: in proportion to the sum of event values; `log`: with its logarithm, for counts with a long tail. */
export type Weighting = "linear" | "log";

/** Turns sums of event values into weights whose average over the training data is 1. */
export interface WeightScale {
  readonly weighting: Weighting;
  /** The weights of a user with n items are divided by this power of n. */
  readonly damping?: number;
  /** The median sum: the logarithm is nearly straight far below it and flat far above it. */
  readonly typical: number;
  readonly average: number;
}

/** Learns the scale from the training data. */
export function weightScaleOf(of: Interactions, weighting: Weighting, damping: number): WeightScale {
  const typical = of.weight.slice().sort()[of.weight.length >> 1] ?? 1;
  const unscaled: WeightScale = { weighting, damping, typical, average: 1 };
  const { weight } = scaleWeights(of, unscaled);
  const sum = weight.reduce((total, value) => total + value, 0);
  return { ...unscaled, average: sum / weight.length || 1 };
}

/** The logarithm starts to level off at this part of the typical sum. */
const LEVEL = 0.1;

/** The weight of a pair whose event values sum to `value`, of a user with so many items. */
export function scaledWeight(
  // A model that was kept before there was damping has none.
  { weighting, damping = 0, typical, average }: WeightScale,
  value: number,
  items: number,
): number {
  const weight = weighting === "log" ? Math.log1p(value / (LEVEL * typical)) : value;
  return weight / (average * items ** damping);
}

/** The same interactions with scaled weights. */
export function scaleWeights(of: Interactions, scale: WeightScale): Interactions {
  const weight = new Float32Array(of.weight.length);
  for (let user = 0; user < of.users; user++) {
    const from = of.start[user];
    const to = of.start[user + 1];
    for (let at = from; at < to; at++) weight[at] = scaledWeight(scale, of.weight[at], to - from);
  }
  return { ...of, weight };
}
