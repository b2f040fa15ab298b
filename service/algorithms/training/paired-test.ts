import { mean } from "../linear-algebra";

/** A normally distributed number is further from 0 than this in 5 % of cases. */
const NORMAL = 1.96;

/**
 * Whether differences, one per user, are above 0 on average by more than chance explains: a two-sided paired t-test at
 * 5 %. A one-sided test would take more than 5 % of rankings that gain nothing, because the two halves that learn from
 * each other depend on each other.
 */
export function isSignificantGain(differences: readonly number[]): boolean {
  const count = differences.length;
  if (count < 2) return false;
  const average = mean(differences);
  const squares = differences.reduce((sum, value) => sum + (value - average) ** 2, 0);
  return average > criticalValue(count - 1) * Math.sqrt(squares / (count - 1) / count);
}

/** The value that Student's t exceeds in 2.5 % of cases, by the first terms of its expansion: close from 5 degrees on. */
function criticalValue(degrees: number): number {
  const z = NORMAL;
  return z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2);
}
