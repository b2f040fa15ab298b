import { z } from "zod";
import { eventType, id, type JsonMap, jsonMap, label, mapOf, maybe, recordId, withTolerant } from "./field";
import { limits } from "./limits";
import { route } from "./route";

/** The kinds of algorithm that the specification names. */
export const algorithmType = z.enum(["G1"], { error: "expected G1" });

const eventWeight = z.number().min(0).max(1000);

/**
 * The parameters of G1; those left out are chosen on held-out data.
 * Their names are the same in programs and on the wire.
 */
export const g1Parameters = z.strictObject({
  effort: z
    .enum(["quick", "balanced", "thorough"], { error: "expected quick, balanced or thorough" })
    .optional()
    .describe("How much work the choice of the others may take; balanced unless given."),
  dimensions: z.int().min(1).max(512).optional().describe("Length of the vectors."),
  regularization: z.number().positive().optional().describe("Pull of all vectors towards zero."),
  alpha: z
    .number()
    .positive()
    .optional()
    .describe("Weight of a pair without events against an average pair."),
  regularization_exponent: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe("Growth of the pull with a vector's weight."),
  epochs: z.int().min(1).max(200).optional().describe("Passes over the data."),
  weighting: z
    .enum(["linear", "log"], { error: "expected linear or log" })
    .optional()
    .describe("How a pair's weight follows from its event values."),
  damping: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe("Fall of a pair's weight with the number of the user's items."),
  neighbours: z
    .number()
    .min(0)
    .max(1000)
    .optional()
    .describe("Weight of those who chose the same items against the vectors; 0 for vectors alone."),
  popularity_exponent: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe("How far those who chose the same items hold popular ones back."),
  event_weights: withTolerant(
    mapOf(eventWeight, { key: eventType, most: limits.eventWeights }),
    mapOf(eventWeight, { key: eventType }),
  )
    .optional()
    .describe("What events of other types weigh against the target event; {} for the target event alone."),
  recommend_seen: z
    .boolean()
    .optional()
    .describe("Whether items that a user has such events for, and no target event, are recommended."),
  diversity: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe("How far items stand back that are like those above them; 0 unless given."),
  popularity_penalty: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe("Fall of an item's score with the number of its users; 0 unless given."),
});

/** Parameters of G1 as they are given. */
export type G1Parameters = z.input<typeof g1Parameters>;

/** What an algorithm is created with. */
export const algorithmFields = z.strictObject({
  projectId: recordId.describe("The project that owns it."),
  name: label.describe("Name of the algorithm."),
  algorithmType: algorithmType.default("G1").describe("Kind of algorithm."),
  // The specification names no parameters.
  algorithmParameters: withTolerant(g1Parameters as z.ZodType<G1Parameters, JsonMap>, jsonMap)
    .default({})
    .describe("Parameters; the empty object lets the service choose all of them."),
});

const algorithm = z.object({
  projectId: maybe(z.string()),
  algorithmId: id,
  name: maybe(z.string()),
  algorithmType: maybe(z.string()),
  algorithmParameters: maybe(jsonMap),
});

export const createAlgorithm = route({
  method: "POST",
  path: "/create-algorithm",
  summary: "Creates an algorithm with its parameters in a project.",
  request: algorithmFields,
  reply: algorithm,
});

export const getAlgorithm = route({
  method: "GET",
  path: "/get-algorithm",
  summary: "Reads one algorithm; beyond the specification.",
  extension: true,
  request: z.strictObject({ projectId: recordId, algorithmId: recordId }),
  reply: algorithm,
});
