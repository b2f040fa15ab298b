import { mean } from "../linear-algebra";

/** Critical value of the normal distribution for a two-sided test at 5 %. */
const NORMAL = 1.96;

/**
 * Returns whether the mean of the differences, one per user, is significantly above 0: a two-sided paired t-test at 5
 * %. A one-sided test would accept more than 5 % of the rankings that gain nothing, because the two halves of the users
 * depend on each other.
 */
export function isSignificantGain(differences: readonly number[]): boolean {
  const count = differences.length;
  if (count < 2) return false;
  const average = mean(differences);
  const squares = differences.reduce((sum, value) => sum + (value - average) ** 2, 0);
  return average > criticalValue(count - 1) * Math.sqrt(squares / (count - 1) / count);
}

/**
 * Returns the 97.5 % quantile of Student's t, by the first terms of its expansion. Accurate from 5 degrees of freedom
 * on.
 */
function criticalValue(degrees: number): number {
  const z = NORMAL;
  return z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2);
}
