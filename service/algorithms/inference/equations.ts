import { ridgeOf } from "../training/ials";
import type { FoldInRule } from "../training/model";
import { scaledWeight } from "../weighting";

/** The equations of one user: (shared · YᵀY + Σ weight · y yᵀ + ridge · I) x = Σ right · y, the sums over his items. */
export interface Equations {
  readonly shared: number;
  /** What an item counts by the sum of the values of its events, of a user with so many items. */
  entry(sum: number, items: number): { readonly weight: number; readonly right: number };
  /** The regularisation of a user whose weights sum to `total`, with so many items. */
  ridge(total: number, items: number): number;
}

/** The equations that a model's users are solved by, where so many items have events. */
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
