import { z } from "zod";
import { atMost, maybe, recordId, withTolerant } from "./field";
import { limits } from "./limits";

const expression = atMost(z.string().min(1), limits.filterCharacters);
const when = expression.describe("Expression in CEL. It reads attributes of `item` and of `user`.");

const listOf = <T extends z.ZodType>(rule: T) => atMost(z.array(rule), limits.rules);

const { boostFactor } = limits;
// The bounds at 1 apply to every service, because otherwise a boost would move items down.
const above = z.number().gt(1, "expected more than 1; bury moves items down");
const below = z.number().lt(1, "expected less than 1; boost moves items up");

const boost = z.strictObject({
  when,
  factor: withTolerant(above.max(boostFactor), above).describe(
    "The scores of items for which the expression is true are multiplied by this number above 1.",
  ),
});
const bury = z.strictObject({
  when,
  factor: withTolerant(below.min(1 / boostFactor), below.gt(0)).describe(
    "The scores of items for which the expression is true are multiplied by this number below 1.",
  ),
});

const pin = z.strictObject({
  itemId: recordId.describe("Item to pin."),
  position: atMost(z.int().min(1), limits.recommendedItems).describe("Place in the list. The first is 1."),
  when: when.optional().describe("The item is pinned while this expression is true. Default: always."),
});

const perValue = z.strictObject({
  attribute: atMost(z.string().min(1), limits.nameCharacters).describe("Item attribute, such as a brand."),
  max: atMost(z.int().min(1), limits.recommendedItems).describe(
    "Maximum number of items with the same value of the attribute.",
  ),
});

/** Rules of a deployment: what it may recommend, and what it prefers. */
export const rules = z.strictObject({
  filter: expression.optional().describe("Recommends only items for which this expression in CEL is true."),
  boost: listOf(boost).optional().describe("Moves items up."),
  bury: listOf(bury).optional().describe("Moves items down."),
  pin: listOf(pin).optional().describe("Puts items at fixed places."),
  limitPer: listOf(perValue)
    .optional()
    .describe("Limits how many items have the same value of an attribute."),
});

/** Rules of a deployment. */
export type Rules = z.output<typeof rules>;

/** Effect of a rule on a recommended item. */
export const appliedRule = z.object({
  effect: z.enum(["boosted", "buried", "pinned"]).describe("Effect of the rule."),
  factor: maybe(z.number()).describe("The factor of a boost or of a bury."),
  position: maybe(z.int()).describe("The place of a pin."),
});

/** Effect of a rule on a recommended item. */
export type AppliedRule = z.output<typeof appliedRule>;

/** An expression of a rule. */
export interface RuleExpression {
  /** Path of the expression, with names as in programs: `boost[0].when`. */
  readonly path: string;
  readonly text: string;
}

/** Returns all expressions of rules. */
export function expressionsIn({ filter, boost = [], bury = [], pin = [] }: Rules): RuleExpression[] {
  const conditions = Object.entries({ boost, bury, pin }).flatMap(([name, list]) =>
    list.flatMap(({ when: text }, at) => (text === undefined ? [] : [{ path: `${name}[${at}].when`, text }])),
  );
  return [...(filter === undefined ? [] : [{ path: "filter", text: filter }]), ...conditions];
}
