import { choleskySolver } from "../linear-algebra";
import { scoreOf } from "./ranking";

/** A list to learn from: the features of its candidates, one after another, and which of them were chosen. */
export interface Example {
  readonly features: Float64Array;
  readonly chosen: readonly boolean[];
}

const STEPS = 12;
const RIDGE = 1;
/** A move that changes no order any more. */
const NOTHING = 1e-9;

/**
 * Weights by which the chosen candidates of each list come before the others: a conditional logit, whose likelihood has
 * one maximum, climbed by Newton's method. Always the same for the same lists in the same order.
 */
export function learnWeights(examples: readonly Example[]): number[] {
  const [first] = examples;
  const size = first ? first.features.length / first.chosen.length : 0;
  let weights = new Float64Array(size);
  for (let step = 0; step < STEPS; step++) {
    const slope = weights.map((weight) => -RIDGE * weight);
    const bend = new Float64Array(size * size);
    for (let k = 0; k < size; k++) bend[k * size + k] = RIDGE;
    for (const example of examples) addList(example, weights, slope, bend);
    const move = choleskySolver(bend, size)(slope);
    weights = weights.map((weight, k) => weight + move[k]);
    if (move.every((part) => Math.abs(part) < NOTHING)) break;
  }
  return Array.from(weights);
}

function addList(
  { features, chosen }: Example,
  weights: Float64Array,
  slope: Float64Array,
  bend: Float64Array,
): void {
  const count = chosen.filter(Boolean).length;
  if (count === 0) return;
  // A user with many items must not outweigh all others.
  const share = 1 / Math.sqrt(count);
  const size = weights.length;
  const scores = chosen.map((_, at) => scoreOf(features, at, weights));
  const highest = Math.max(...scores);
  const chances = scores.map((score) => Math.exp(score - highest));
  const total = chances.reduce((sum, chance) => sum + chance, 0);
  const [mean, off] = [new Float64Array(size), new Float64Array(size)];
  for (let at = 0; at < chances.length; at++) {
    for (let k = 0; k < size; k++) mean[k] += (features[at * size + k] * chances[at]) / total;
  }
  for (let at = 0; at < chances.length; at++) {
    const part = (share * count * chances[at]) / total;
    for (let k = 0; k < size; k++) off[k] = features[at * size + k] - mean[k];
    for (let i = 0; i < size; i++) {
      if (chosen[at]) slope[i] += share * off[i];
      const times = part * off[i];
      for (let j = 0; j <= i; j++) bend[i * size + j] += times * off[j];
    }
  }
}
