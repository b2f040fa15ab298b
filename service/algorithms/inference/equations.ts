import { ridgeOf } from "../training/ials";
import type { FoldInRule } from "../training/model";
import { scaledWeight } from "../weighting";

/**
 * The equations whose solution x is a user's vector. The sums are over the user's items:
 * (shared · YᵀY + Σ weight · y yᵀ + ridge · I) x = Σ right · y
 */
export interface Equations {
  readonly shared: number;
  /**
   * Returns the weights of an item in the equations. `sum` is the sum of its event values, `items` the number of the
   * user's items.
   */
  entry(sum: number, items: number): { readonly weight: number; readonly right: number };
  /**
   * Returns the regularization of a user. `total` is the sum of the user's weights, `items` the number of the user's
   * items.
   */
  ridge(total: number, items: number): number;
}

/** Returns the equations of a fold-in rule. `activeItems` is the number of items with events. */
export function equationsOf(rule: FoldInRule, activeItems: number): Equations {
  if (rule.rule === "spark-als-implicit") {
    const { alpha, regularization } = rule;
    return {
      shared: 1,
      entry: (sum) => ({ weight: alpha * sum, right: 1 + alpha * sum }),
      ridge: (_, items) => regularization * items,
    };
  }
  return {
    shared: rule.alpha,
    entry: (sum, items) => {
      const weight = scaledWeight(rule.weightScale, sum, items);
      return { weight, right: weight };
    },
    ridge: (total) => ridgeOf(rule, total, activeItems),
  };
}
