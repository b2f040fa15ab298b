import { z } from "zod";
import { eventType, id, type JsonMap, jsonMap, label, mapOf, maybe, recordId, withTolerant } from "./field";
import { limits } from "./limits";
import { originHeaders } from "./origin";
import { route } from "./route";

/** Algorithm types in the specification. */
export const algorithmType = z.enum(["G1"], { error: "expected G1" });

const eventWeight = z.number().min(0).max(1000);
const optionalShare = z.number().min(0).max(1).optional();

/**
 * Parameters of G1. The service chooses parameters that are not set, using held-out data.
 * The names are the same in programs and on the wire.
 */
export const g1Parameters = z.strictObject({
  effort: z
    .enum(["quick", "balanced", "thorough"], { error: "expected quick, balanced or thorough" })
    .optional()
    .describe("How much time to spend on choosing the parameters that are not set. Default: balanced."),
  dimensions: z.int().min(1).max(512).optional().describe("Dimensions of the vectors."),
  regularization: z.number().positive().optional().describe("Strength of the regularization."),
  alpha: z
    .number()
    .positive()
    .optional()
    .describe("Weight of a user-item pair without events, relative to an average pair with events."),
  regularization_exponent: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe("How much the regularization of a vector grows with its total event weight."),
  epochs: z.int().min(1).max(200).optional().describe("Number of training passes over the data."),
  weighting: z
    .enum(["linear", "log"], { error: "expected linear or log" })
    .optional()
    .describe("How the event values of a user-item pair become its weight."),
  damping: optionalShare.describe("How much the weight of a pair shrinks if the user has many items."),
  neighbours: z
    .number()
    .min(0)
    .max(1000)
    .optional()
    .describe("Weight of users with the same items, relative to the vectors. 0 uses only the vectors."),
  popularity_exponent: optionalShare.describe(
    "How much popular items are demoted in the scores from users with the same items.",
  ),
  similarity_exponent: z
    .number()
    .min(1)
    .max(4)
    .optional()
    .describe("Power of the similarity of users. Above 1, users who share several items count more."),
  order: z
    .number()
    .min(0)
    .max(1000)
    .optional()
    .describe(
      "Weight of the items that users chose after the user's last items, relative to the vectors. 0 ignores the order of events.",
    ),
  event_weights: withTolerant(
    mapOf(eventWeight, { key: eventType, most: limits.eventWeights }),
    mapOf(eventWeight, { key: eventType }),
  )
    .optional()
    .describe("Weights of other event types relative to the target event. {} uses only the target event."),
  recommend_seen: z
    .boolean()
    .optional()
    .describe("Whether to recommend items for which the user has events of other types but no target event."),
  diversity: optionalShare.describe(
    "How much items are demoted that resemble higher-ranked ones. Default: 0.",
  ),
  popularity_penalty: optionalShare.describe(
    "How much an item's score shrinks with its number of users. Default: 0.",
  ),
});

/** Parameters of G1, as a caller passes them. */
export type G1Parameters = z.input<typeof g1Parameters>;

/** Fields of a new algorithm. */
export const algorithmFields = z.strictObject({
  projectId: recordId.describe("Id of the project of the algorithm."),
  name: label.describe("Name of the algorithm."),
  algorithmType: algorithmType.default("G1").describe("Type of the algorithm."),
  // The specification does not define the parameters, so other services may accept any.
  algorithmParameters: withTolerant(g1Parameters as z.ZodType<G1Parameters, JsonMap>, jsonMap)
    .default({})
    .describe("Parameters. If the object is empty, the service chooses all of them."),
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
  summary: "Creates an algorithm in a project.",
  request: algorithmFields,
  headers: originHeaders,
  reply: algorithm,
});

export const getAlgorithm = route({
  method: "GET",
  path: "/get-algorithm",
  summary: "Reads an algorithm (extension).",
  extension: true,
  request: z.strictObject({ projectId: recordId, algorithmId: recordId }),
  reply: algorithm,
});
