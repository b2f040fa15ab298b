import { z } from "zod";
import { atMost, eventType, id, inline, json, jsonMap, maybe, recordId, withTolerant } from "./field";
import { limits } from "./limits";
import { route } from "./route";
import { appliedRule } from "./rules";

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
  rules: maybe(z.array(appliedRule)).describe(
    "What the rules of the deployment did to the item. The score is from before the rules.",
  ),
});

/** An event of the current visit. It counts as if it had just happened, and is never stored. */
const visitEvent = z.strictObject({
  itemId: recordId.describe("Item that the visitor used."),
  eventType: eventType
    .optional()
    .describe("Type of the event. Default: the target event type of the project."),
  eventValue: withTolerant(z.number().min(-limits.eventValue).max(limits.eventValue), z.number())
    .default(1)
    .describe("Weight of the event, as in an event record."),
});

/** An empty list is valid, such as the items of an empty shopping cart. */
const excludedIds = atMost(z.array(recordId), limits.listedItems);

/** An empty list would allow no item at all, so it is probably a mistake. */
const includedIds = atMost(z.array(recordId).min(1), limits.listedItems);

/** Request fields that limit what is recommended. Both recommendation calls have them. */
export const recommendationOptions = {
  attributes: atMost(z.array(atMost(z.string(), limits.nameCharacters)), limits.recommendedAttributes)
    .default([])
    .describe("Item attributes to return. Default: none."),
  limit: atMost(z.int().min(1), limits.recommendedItems).default(10).describe("Maximum number of items."),
  filterQuery: atMost(z.string().min(1), limits.filterCharacters)
    .nullish()
    .describe(
      "Recommends only items for which this expression in CEL is true (extension). It reads attributes of `item` and of `user`.",
    ),
  excludeItemIds: excludedIds.optional().describe("Never recommends these items (extension)."),
  includeItemIds: includedIds.optional().describe("Recommends only some of these items (extension)."),
  events: atMost(z.array(visitEvent), limits.visitEvents)
    .optional()
    .describe(
      "Events of the current visit (extension). They count as if they had just happened, and are not stored.",
    ),
};

/** Fields of an answer. Both recommendation calls have them. */
const answer = {
  limit: maybe(z.int()).describe("Requested number of items."),
  attributes: maybe(z.array(z.string())).describe("Requested item attributes."),
  // In the specification, this field is always null, and no request field sets it.
  filterQuery: maybe(json).describe("The filter of the request. Null if it has none."),
};

/** Request fields that extend the specification. */
const optionNames = ["filterQuery", "excludeItemIds", "includeItemIds", "events"] as const;

/** A recommended item. */
const result = { item: item.describe("The item.") };

export const recommendItemsToItem = route({
  method: "POST",
  path: "/recommend-items-to-item",
  summary: "Recommends items that are similar to given items (extension).",
  extension: true,
  repeatable: true,
  request: z.strictObject({
    itemIds: atMost(z.array(recordId).min(1), limits.similarTo).describe(
      "Items to compare with. They are not recommended.",
    ),
    ...recommendationOptions,
    filterQuery: recommendationOptions.filterQuery.describe(
      "Recommends only items for which this expression in CEL is true. It reads attributes of `item`.",
    ),
    events: recommendationOptions.events.describe(
      "Events of the current visit. Items that a user with these events would not get are left out.",
    ),
  }),
  reply: z.object({
    itemIds: maybe(z.array(z.string())).describe("The items to compare with."),
    ...answer,
    results: z.array(z.object(result)).describe("The recommended items, most similar first."),
  }),
});

export const recommendItemsToUser = route({
  method: "POST",
  path: "/recommend-items-to-user",
  summary: "Recommends items to a user.",
  repeatable: true,
  // The handler requires `userId` or `events`. A check of two fields would validate each request twice.
  request: z
    .strictObject({
      userId: recordId.optional().describe("Id of the user. May only be missing if there are `events`."),
      ...recommendationOptions,
    })
    .meta({ examples: [{ user_id: "ada" }] }),
  extensionFields: optionNames,
  headers: z.object({
    [explainHeader]: z
      .enum(["1", "2", "3"], { error: "expected 1, 2 or 3: the maximum number of reasons per item" })
      .optional()
      .describe("Return up to this many reasons per item (extension)."),
  }),
  reply: z.object({
    userId: maybe(z.string()).describe("Id of the user. Null if the request has none."),
    ...answer,
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
          ...result,
          why: maybe(why).describe("Only if the call requests reasons."),
        }),
      )
      .describe("The recommended items, best first."),
  }),
});
