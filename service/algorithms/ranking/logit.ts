import { choleskySolver } from "../linear-algebra";
import { scoreOf } from "./ranking";

/** A list to learn from: the features of all candidates, one after another, and which candidates were chosen. */
export interface Example {
  readonly features: Float64Array;
  readonly chosen: readonly boolean[];
}

const STEPS = 12;
const RIDGE = 1;
/** Newton's method stops when every weight changes by less than this. */
const CONVERGED = 1e-9;

/**
 * Learns feature weights that rank the chosen candidates of each list first. The model is a conditional logit. Its
 * likelihood has one maximum, which Newton's method finds. The same lists in the same order give the same weights.
 */
export function learnWeights(examples: readonly Example[]): number[] {
  const [first] = examples;
  const size = first ? first.features.length / first.chosen.length : 0;
  let weights = new Float64Array(size);
  for (let step = 0; step < STEPS; step++) {
    const gradient = weights.map((weight) => -RIDGE * weight);
    const hessian = new Float64Array(size * size);
    for (let k = 0; k < size; k++) hessian[k * size + k] = RIDGE;
    for (const example of examples) addList(example, weights, gradient, hessian);
    const move = choleskySolver(hessian, size)(gradient);
    weights = weights.map((weight, k) => weight + move[k]);
    if (move.every((part) => Math.abs(part) < CONVERGED)) break;
  }
  return Array.from(weights);
}

function addList(
  { features, chosen }: Example,
  weights: Float64Array,
  gradient: Float64Array,
  hessian: Float64Array,
): void {
  const count = chosen.filter(Boolean).length;
  if (count === 0) return;
  // Without this, a user who chose many candidates would outweigh all other users.
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
      if (chosen[at]) gradient[i] += share * off[i];
      const times = part * off[i];
      for (let j = 0; j <= i; j++) hessian[i * size + j] += times * off[j];
    }
  }
}
