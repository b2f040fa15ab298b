import type { Compiled } from "../../../expressions/compile";
import { ExpressionError } from "../../../expressions/parse";
import { costOf, type Input } from "./evaluate";

/** Maximum estimated time per item, in comparisons. More would take longer than 5 ms for 100,000 items. */
const maxCostPerItem = 4;

/** The estimated time is only limited above this number of items, because small catalogues are fast anyway. */
const minLimitedItems = 25_000;

/** By how much tests of lists may exceed the estimate, because lists can be longer than it assumes. */
const listTolerance = 16;

/** Throws an ExpressionError if the evaluation of an expression would take too long. */
export function requireCheap(compiled: Compiled, input: Input): void {
  const large = input.columns.findIndex(({ isTooLarge }) => isTooLarge);
  if (large >= 0)
    throw new ExpressionError(
      0,
      `item.${compiled.item[large]} has too many long values to filter by; filter by another attribute`,
    );
  const cost = costOf(compiled, input);
  const most = mostCost(input.items);
  if (cost <= most) return;
  throw new ExpressionError(
    compiled.root.at,
    `the expression is too expensive for ${input.items.toLocaleString("en")} items: it takes ` +
      `${(cost / most).toFixed(1)} times the limit. Test fewer attributes that differ between most items, ` +
      "or add an attribute with the result to the items",
  );
}

/** Returns the maximum time of all tests of lists in an evaluation, in comparisons. */
export function maxListTime(items: number): number {
  return listTolerance * mostCost(items);
}

function mostCost(items: number): number {
  return maxCostPerItem * Math.max(items, minLimitedItems);
}
