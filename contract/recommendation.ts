import { z } from "zod";
import { atMost, id, inline, json, jsonMap, maybe, recordId } from "./field";
import { limits } from "./limits";
import { route } from "./route";

const itemId = id.describe("Id of the item.");

/** The item attributes that were asked for lie beside `item_id` on the wire. */
const item = z.object({
  itemId,
  attributes: inline(jsonMap.describe("Its attributes, of those that were asked for.")),
});

/** A header and no field, for a service that knows no more than the specification would refuse a field. */
export const explainHeader = "recommender-explain";

const adds = z.number().describe("The part of the score that comes of it.");

/** Why an item is recommended. */
const why = z.object({
  score: z.number().nullable().describe("Score of the item; null where the model knows nothing of it."),
  items: z
    .array(z.object({ itemId, adds }))
    .describe("The user's own items that add most to the score, most first."),
  attributes: z
    .array(z.object({ attribute: z.string().describe("Attribute of the user."), adds }))
    .describe("The user's attributes that add most, where the user has no events."),
  rest: z.number().describe("The part of the score that none of them explains."),
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
      .describe("Item attributes to return; none unless given."),
    limit: atMost(z.int().min(1), limits.recommendedItems).default(10).describe("Number of items."),
  }),
  headers: z.object({
    [explainHeader]: z
      .enum(["1", "2", "3"], { error: "expected 1, 2 or 3, the most reasons for each item" })
      .optional()
      .describe("Has each item answered with up to so many reasons; beyond the specification."),
  }),
  reply: z.object({
    userId: maybe(z.string()).describe("Id of the user."),
    limit: maybe(z.int()).describe("Number of items that were asked for."),
    attributes: maybe(z.array(z.string())).describe("Item attributes that were asked for."),
    // The specification shows null alone, and no field of the request that sets it.
    filterQuery: maybe(json),
    basis: maybe(
      z.object({
        from: z
          .enum(["events", "training", "attributes", "popularity"])
          .describe("What the user is known by: training where the event dataset is deleted."),
        modelId: id.describe("The model whose scores the reasons are of."),
        rankedBy: z.string().nullable().describe("The ranker that has put the items in another order."),
      }),
    ).describe("Answered only where the call asks for reasons."),
    results: z
      .array(
        z.object({
          item: item.describe("The item."),
          why: maybe(why).describe("Answered only where the call asks for reasons."),
        }),
      )
      .describe("The recommended items, best first."),
  }),
});
