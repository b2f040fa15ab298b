import { z } from "zod";
import { atMost, id, inline, json, jsonMap, maybe } from "./field";
import { limits } from "./limits";
import { route } from "./route";

/** The item attributes that were asked for lie beside `item_id` on the wire. */
const item = z.object({ itemId: id, attributes: inline(jsonMap) });

export const recommendItemsToUser = route({
  method: "POST",
  path: "/recommend-items-to-user",
  summary: "Recommends items to a user.",
  repeatable: true,
  request: z.strictObject({
    userId: id,
    attributes: atMost(z.array(atMost(z.string(), limits.nameCharacters)), limits.recommendedAttributes)
      .default([])
      .describe("Item attributes to return."),
    limit: atMost(z.int().min(1), limits.recommendedItems).default(10).describe("Number of items."),
  }),
  reply: z.object({
    userId: maybe(z.string()),
    limit: maybe(z.int()),
    attributes: maybe(z.array(z.string())),
    filterQuery: maybe(json),
    results: z.array(z.object({ item })),
  }),
});
