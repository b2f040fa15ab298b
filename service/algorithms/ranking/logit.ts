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
    const bend = Array.from({ length: size }, (_, i) => {
      const row = new Float64Array(size);
      row[i] = RIDGE;
      return row;
    });
    for (const example of examples) addList(example, weights, slope, bend);
    const move = solved(bend, slope);
    weights = weights.map((weight, k) => weight + move[k]);
    if (move.every((part) => Math.abs(part) < NOTHING)) break;
  }
  return Array.from(weights);
}

function addList(
  { features, chosen }: Example,
  weights: Float64Array,
  slope: Float64Array,
  bend: readonly Float64Array[],
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
      const line = bend[i];
      const times = part * off[i];
      for (let j = 0; j < size; j++) line[j] += times * off[j];
    }
  }
}

/** The solution of a system whose matrix is symmetric and positive definite. */
function solved(matrix: readonly Float64Array[], right: Float64Array): Float64Array {
  const rows = matrix.map((row, i) => Float64Array.of(...row, right[i]));
  rows.forEach((pivot, i) => {
    for (const row of rows.slice(i + 1)) {
      const factor = row[i] / pivot[i];
      for (let k = i; k < row.length; k++) row[k] -= factor * pivot[k];
    }
  });
  const solution = new Float64Array(rows.length);
  for (let i = rows.length - 1; i >= 0; i--) {
    const row = rows[i];
    let rest = row[rows.length];
    for (let k = i + 1; k < rows.length; k++) rest -= row[k] * solution[k];
    solution[i] = rest / row[i];
  }
  return solution;
}
