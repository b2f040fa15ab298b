import { z } from "zod";
import { atMost, label, recordId } from "./field";
import { userListQuery } from "./job";
import { limits } from "./limits";
import { originHeaders } from "./origin";
import { recommendationOptions } from "./recommendation";
import { route } from "./route";

const { attributes, limit, filterQuery, excludeItemIds, includeItemIds } = recommendationOptions;

/** File formats of the result. */
const recommendationFormats = ["ndjson", "parquet"] as const;

/** Fields of a new recommendation job. */
export const recommendationJobFields = z
  .strictObject({
    name: label.describe("Display name of the job."),
    projectId: recordId.describe("The project."),
    modelId: recordId
      .optional()
      .describe(
        "The model to recommend with, without a ranker and without rules. Default: the models and the rules that are deployed when the job is submitted.",
      ),
    userIds: atMost(z.array(recordId).min(1), limits.batchUsers)
      .optional()
      .describe("Recommends only to these users. Default: to all users."),
    query: userListQuery
      .optional()
      .describe("Recommends only to the users who meet all conditions, as in a `user_list` query."),
    limit: limit.describe("Maximum number of items per user."),
    attributes,
    filterQuery: filterQuery.describe(
      "Recommends only items for which this expression in CEL is true. It reads attributes of `item` and of `user`.",
    ),
    excludeItemIds: excludeItemIds.describe("Never recommends these items."),
    includeItemIds: includeItemIds.describe("Recommends only some of these items."),
    format: z
      .enum(recommendationFormats, { error: "expected ndjson or parquet" })
      .default("ndjson")
      .describe(
        "Format of the file. NDJSON has a line per user, Parquet has a row per user and recommended item.",
      ),
  })
  .superRefine(({ userIds, query }, context) => {
    if (userIds && query)
      context.addIssue({
        code: "custom",
        message: "expected a list of users or a query, not both",
        path: ["query"],
      });
  });

export const submitRecommendationJob = route({
  method: "POST",
  path: "/submit-recommendation-job",
  summary: "Recommends items to all users, or to some of them, and writes the results to a file (extension).",
  extension: true,
  request: recommendationJobFields,
  headers: originHeaders,
  reply: z.object({ jobId: recordId }),
});
