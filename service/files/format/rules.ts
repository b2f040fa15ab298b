import { z } from "zod";
import { mapOf } from "../../../contract/field";
import type { EventRule, ExposureRule, FoldInRule, NeighbourRule } from "../../algorithms";

const number = z.number();
const positive = z.number().positive();

/** Header of the rule for folding in a user. */
export const foldInHeader = z.discriminatedUnion("rule", [
  z.object({
    rule: z.literal("ials"),
    alpha: z.number().nonnegative(),
    regularization: z.number().nonnegative(),
    regularization_exponent: number,
    weighting: z.enum(["linear", "log"]),
    damping: number,
    typical: positive,
    average: positive,
  }),
  z.object({ rule: z.literal("spark-als-implicit"), alpha: positive, regularization: positive }),
]);

/** Header of the rule for neighbours. */
export const neighboursHeader = z.object({
  scale: z.number().nonnegative(),
  damping: number,
  item_exponent: number,
  user_exponent: number,
  popularity_exponent: number,
});

/** Header of the rule for events of other types. */
export const eventsHeader = z.object({
  weights: mapOf(z.number().nonnegative()),
  recommend_seen: z.boolean(),
});

/** Header of the rule for diversity and popularity. */
export const exposureHeader = z.object({
  diversity: z.number().min(0).max(1),
  popularity_penalty: z.number().min(0).max(1),
});

type FoldInHeader = z.output<typeof foldInHeader>;
type NeighboursHeader = z.output<typeof neighboursHeader>;

/** Encodes the fold-in rule. */
export function writtenRule(rule: FoldInRule): FoldInHeader {
  if (rule.rule !== "ials") return rule;
  const { regularizationExponent, weightScale, ...others } = rule;
  return { ...others, regularization_exponent: regularizationExponent, damping: 0, ...weightScale };
}

/** Decodes the fold-in rule. */
export function readRule(rule: FoldInHeader): FoldInRule {
  if (rule.rule !== "ials") return rule;
  const {
    regularization_exponent: regularizationExponent,
    weighting,
    damping,
    typical,
    average,
    ...others
  } = rule;
  return { ...others, regularizationExponent, weightScale: { weighting, damping, typical, average } };
}

/** Encodes the rule for neighbours. */
export function writtenNeighbours(rule: NeighbourRule): NeighboursHeader {
  const { itemExponent, userExponent, popularityExponent, ...others } = rule;
  return {
    ...others,
    item_exponent: itemExponent,
    user_exponent: userExponent,
    popularity_exponent: popularityExponent,
  };
}

/** Decodes the rule for neighbours. */
export function readNeighbours(rule: NeighboursHeader): NeighbourRule {
  const {
    item_exponent: itemExponent,
    user_exponent: userExponent,
    popularity_exponent: popularityExponent,
    ...others
  } = rule;
  return { ...others, itemExponent, userExponent, popularityExponent };
}

/** Encodes the rule for events of other types. */
export function writtenEvents({ weights, recommendSeen }: EventRule): z.output<typeof eventsHeader> {
  return { weights: { ...weights }, recommend_seen: recommendSeen };
}

/** Decodes the rule for events of other types. */
export function readEvents(header: z.output<typeof eventsHeader>): EventRule {
  return { weights: header.weights, recommendSeen: header.recommend_seen };
}

/** Encodes the rule for diversity and popularity. */
export function writtenExposure(rule: ExposureRule): z.output<typeof exposureHeader> {
  return { diversity: rule.diversity, popularity_penalty: rule.popularityPenalty };
}

/** Decodes the rule for diversity and popularity. */
export function readExposure(header: z.output<typeof exposureHeader>): ExposureRule {
  return { diversity: header.diversity, popularityPenalty: header.popularity_penalty };
}
