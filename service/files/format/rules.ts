import { z } from "zod";
import { decode, encode, wireSchema } from "../../../contract";
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

type FoldInHeader = z.output<typeof foldInHeader>;

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

/** Returns the schema of a rule in the header, and functions that convert a rule to the header and back. */
function ruleOf<T>(schema: z.ZodType<T>) {
  return {
    header: wireSchema(schema),
    written: (rule: T) => encode(schema, rule),
    read: (header: unknown) => decode(schema, header) as T,
  };
}

/** The rule for neighbours. */
export const neighbourRule = ruleOf<NeighbourRule>(
  z.object({
    scale: z.number().nonnegative(),
    damping: number,
    itemExponent: number,
    userExponent: number,
    popularityExponent: number,
    similarityExponent: z.number().min(1).optional(),
  }),
);

/** The rule for events whose type is not the project's target type. */
export const eventRule = ruleOf<EventRule>(
  z.object({ weights: mapOf(z.number().nonnegative()), recommendSeen: z.boolean() }),
);

/** The rule for diversity and popularity. */
export const exposureRule = ruleOf<ExposureRule>(
  z.object({ diversity: z.number().min(0).max(1), popularityPenalty: z.number().min(0).max(1) }),
);
