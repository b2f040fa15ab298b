import type { z } from "zod";
import { recommendationJobFields, routes, tolerant } from "../contract";
import { withTolerant } from "../contract/field";
import { jobKinds } from "./jobs/jobs";
import { finishedJob, type ResultKind, submittedJob } from "./jobs/result-job";

const recommending: ResultKind = {
  kind: jobKinds.recommendation,
  route: routes.submitRecommendationJob,
  fields: recommendationJobFields,
  args: (more: z.ZodRawShape) =>
    withTolerant(
      recommendationJobFields.safeExtend(more),
      tolerant(recommendationJobFields).safeExtend(more),
    ),
};

/** Job that recommends items to many users. */
export const recommendationJob = submittedJob("RecommendationJob", recommending);

/** Result of a recommendation job. */
export const userRecommendations = finishedJob("UserRecommendations", "RecommendationJob", recommending);
