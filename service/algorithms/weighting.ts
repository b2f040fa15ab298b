import type { Interactions } from "./interactions";

/** `linear`: in proportion to the sum of event values; `log`: with its logarithm, for counts with a long tail. */
export type Weighting = "linear" | "log";

/** Turns sums of event values into weights whose average over the training data is 1. */
export interface WeightScale {
  readonly weighting: Weighting;
  /** The median sum: the logarithm is nearly straight far below it and flat far above it. */
  readonly typical: number;
  readonly average: number;
}

/** Learns the scale from the training data. */
export function weightScaleOf(weights: Float32Array, weighting: Weighting): WeightScale {
  const typical = weights.slice().sort()[weights.length >> 1] ?? 1;
  const unscaled: WeightScale = { weighting, typical, average: 1 };
  let sum = 0;
  for (const weight of weights) sum += scaledWeight(unscaled, weight);
  return { weighting, typical, average: sum / weights.length || 1 };
}

/** The logarithm starts to level off at this part of the typical sum. */
const LEVEL = 0.1;

/** The weight of a pair whose event values sum to `value`. */
export function scaledWeight({ weighting, typical, average }: WeightScale, value: number): number {
  return (weighting === "log" ? Math.log1p(value / (LEVEL * typical)) : value) / average;
}

/** The same interactions with scaled weights. */
export function scaleWeights(of: Interactions, scale: WeightScale): Interactions {
  return { ...of, weight: of.weight.map((value) => scaledWeight(scale, value)) };
}
