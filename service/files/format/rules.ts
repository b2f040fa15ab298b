import { z } from "zod";
import { mapOf } from "../../../contract/field";
import type { EventRule, ExposureRule, FoldInRule, NeighbourRule } from "../../algorithms";

const number = z.number();
const positive = z.number().positive();

/** What the header says of how a user is folded in. */
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

/** What the header says of how neighbours count. */
export const neighboursHeader = z.object({
  scale: z.number().nonnegative(),
  damping: number,
  item_exponent: number,
  user_exponent: number,
  popularity_exponent: number,
});

/** What the header says of how events of other types count. */
export const eventsHeader = z.object({
  weights: mapOf(z.number().nonnegative()),
  recommend_seen: z.boolean(),
});

/** What the header says of what counts beside how well an item fits. */
export const exposureHeader = z.object({
  diversity: z.number().min(0).max(1),
  popularity_penalty: z.number().min(0).max(1),
});

type FoldInHeader = z.output<typeof foldInHeader>;
type NeighboursHeader = z.output<typeof neighboursHeader>;

/** The fold-in rule as the header has it. */
export function writtenRule(rule: FoldInRule): FoldInHeader {
  if (rule.rule !== "ials") return rule;
  const { regularizationExponent, weightScale, ...others } = rule;
  return { ...others, regularization_exponent: regularizationExponent, damping: 0, ...weightScale };
}

/** The fold-in rule of a header. */
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

/** The rule of neighbours as the header has it. */
export function writtenNeighbours(rule: NeighbourRule): NeighboursHeader {
  const { itemExponent, userExponent, popularityExponent, ...others } = rule;
  return {
    ...others,
    item_exponent: itemExponent,
    user_exponent: userExponent,
    popularity_exponent: popularityExponent,
  };
}

/** The rule of neighbours of a header. */
export function readNeighbours(rule: NeighboursHeader): NeighbourRule {
  const {
    item_exponent: itemExponent,
    user_exponent: userExponent,
    popularity_exponent: popularityExponent,
    ...others
  } = rule;
  return { ...others, itemExponent, userExponent, popularityExponent };
}

/** The rule of events of other types as the header has it. */
export function writtenEvents({ weights, recommendSeen }: EventRule): z.output<typeof eventsHeader> {
  return { weights: { ...weights }, recommend_seen: recommendSeen };
}

/** The rule of events of other types of a header. */
export function readEvents(of: z.output<typeof eventsHeader>): EventRule {
  return { weights: of.weights, recommendSeen: of.recommend_seen };
}

/** The rule of exposure as the header has it. */
export function writtenExposure(of: ExposureRule): z.output<typeof exposureHeader> {
  return { diversity: of.diversity, popularity_penalty: of.popularityPenalty };
}

/** The rule of exposure of a header. */
export function readExposure(of: z.output<typeof exposureHeader>): ExposureRule {
  return { diversity: of.diversity, popularityPenalty: of.popularity_penalty };
}
