import { z } from "zod";
import { atMost, id, inline, json, jsonMap, maybe, recordId } from "./field";
import { limits } from "./limits";
import { route } from "./route";

const itemId = id.describe("Id of the item.");

/** On the wire, the requested attributes are on the same level as `item_id`. */
const item = z.object({
  itemId,
  attributes: inline(jsonMap.describe("Requested attributes of the item.")),
});

/**
 * Header that requests reasons for recommendations. It is not a field, because services that follow the specification
 * reject unknown fields.
 */
export const explainHeader = "recommender-explain";

const adds = z.number().describe("Contribution to the score.");

/** Reasons for a recommendation. */
const why = z.object({
  score: z.number().nullable().describe("Score of the item. Null if the model does not know it."),
  items: z
    .array(z.object({ itemId, adds }))
    .describe("The user's items that contribute most to the score, largest first."),
  attributes: z
    .array(z.object({ attribute: z.string().describe("Attribute of the user."), adds }))
    .describe("The user's attributes that contribute most, if the user has no events."),
  rest: z.number().describe("Remaining part of the score."),
});

export const recommendItemsToUser = route({
  method: "POST",
  path: "/recommend-items-to-user",
  summary: "Recommends items to a user.",
  repeatable: true,
  request: z.strictObject({
    userId: recordId.describe("Id of the user."),
    attributes: atMost(z.array(atMost(z.string(), limits.nameCharacters)), limits.recommendedAttributes)
      .default([])
      .describe("Item attributes to return. Default: none."),
    limit: atMost(z.int().min(1), limits.recommendedItems).default(10).describe("Maximum number of items."),
  }),
  headers: z.object({
    [explainHeader]: z
      .enum(["1", "2", "3"], { error: "expected 1, 2 or 3: the maximum number of reasons per item" })
      .optional()
      .describe("Return up to this many reasons per item (extension)."),
  }),
  reply: z.object({
    userId: maybe(z.string()).describe("Id of the user."),
    limit: maybe(z.int()).describe("Requested number of items."),
    attributes: maybe(z.array(z.string())).describe("Requested item attributes."),
    // In the specification, this field is always null, and no request field sets it.
    filterQuery: maybe(json),
    basis: maybe(
      z.object({
        from: z
          .enum(["events", "training", "attributes", "popularity"])
          .describe(
            "What the recommendations are based on. `training` is used if the event dataset is deleted.",
          ),
        modelId: id.describe("The model that computed the scores."),
        rankedBy: z.string().nullable().describe("The ranker that reordered the items, if any."),
      }),
    ).describe("Only if the call requests reasons."),
    results: z
      .array(
        z.object({
          item: item.describe("The item."),
          why: maybe(why).describe("Only if the call requests reasons."),
        }),
      )
      .describe("The recommended items, best first."),
  }),
});
