import type { Interactions } from "./interactions";

/** How the weight of a pair grows with the sum of its event values. `log` suits counts with a long tail. */
export type Weighting = "linear" | "log";

/** Scale that converts sums of event values to weights. The mean weight over the training data is 1. */
export interface WeightScale {
  readonly weighting: Weighting;
  /** The weights of a user with n items are divided by n ** damping. */
  readonly damping?: number;
  /** Median of the sums. Far below it, the logarithm is nearly linear, and far above it nearly flat. */
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

/** The logarithm starts to flatten at this share of the typical sum. */
const FLATTENING = 0.1;

/** Returns the weight of a pair, from the sum of its event values and the number of the user's items. */
export function scaledWeight(
  // Models that were stored before damping existed do not have it.
  { weighting, damping = 0, typical, average }: WeightScale,
  value: number,
  items: number,
): number {
  const weight = weighting === "log" ? Math.log1p(value / (FLATTENING * typical)) : value;
  return weight / (average * items ** damping);
}

/** Returns the interactions with scaled weights. */
export function scaleWeights(of: Interactions, scale: WeightScale): Interactions {
  const weight = new Float32Array(of.weight.length);
  for (let user = 0; user < of.users; user++) {
    const from = of.start[user];
    const to = of.start[user + 1];
    for (let at = from; at < to; at++) weight[at] = scaledWeight(scale, of.weight[at], to - from);
  }
  return { ...of, weight };
}
