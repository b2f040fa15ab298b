import { z } from "zod";
import { atMost, id, json, jsonMap, label, maybe, recordId, withTolerant } from "./field";
import { limits } from "./limits";
import { originHeaders } from "./origin";
import { route } from "./route";
import { rules } from "./rules";

/** Types of jobs. RECOMMENDATION is an extension. */
export const jobTypes = ["TRAINING", "DEPLOYMENT", "QUERYING", "CLUSTERING", "RECOMMENDATION"] as const;

/** Statuses of a job in the service of this package. Only SUCCEED is in the specification. */
export const jobStatuses = ["PENDING", "RUNNING", "SUCCEED", "FAILED"] as const;

const submitted = z.object({ jobId: id });
const jobName = label.describe("Display name of the job.");

export const submitTrainingJob = route({
  method: "POST",
  path: "/submit-training-job",
  summary: "Trains a model with an algorithm. The model gets the name of the job.",
  request: z.strictObject({ projectId: recordId, algorithmId: recordId, name: jobName }),
  headers: originHeaders,
  reply: submitted,
});

/** Fields of a new deployment job. */
export const deploymentFields = z.strictObject({
  projectId: recordId.describe("The project to deploy."),
  name: jobName,
  generatorModelId: recordId.describe("The model that generates the candidates."),
  rankerModelId: recordId.optional().describe("The model that reorders the generator's candidates."),
  qps: atMost(z.int().min(1), limits.qps)
    .default(limits.defaultQps)
    .describe("Maximum number of recommendation calls per second."),
  rules: rules
    .optional()
    .describe("What the deployment may recommend, and what it prefers (extension). Default: no rules."),
});

export const submitDeploymentJob = route({
  method: "POST",
  path: "/submit-deployment-job",
  summary: "Deploys a model, or a generator and a ranker, in a project.",
  request: deploymentFields,
  extensionFields: ["rules"],
  headers: originHeaders,
  reply: submitted,
});

/** One value of one item attribute. */
const attributeValue = {
  attribute: atMost(z.string().min(1), limits.nameCharacters).describe("Item attribute."),
  // The specification does not define the type of the value.
  value: z
    .union([atMost(z.string(), limits.valueCharacters), z.number(), z.boolean()])
    .describe("Value of the item attribute."),
};

const share = "usage is a share between 0 and 1, not a percentage: 0.2 means 20 %";

/** The specification does not define the unit of usage, so other services may use percentages. */
const usage = withTolerant(z.number().min(0, share).max(1, share), z.number());

/** Bounds on a user's usage of an item attribute value. */
export const usageCondition = z
  .strictObject({
    ...attributeValue,
    lowerBound: usage.optional().describe("Minimum usage, inclusive. No minimum if not set."),
    upperBound: usage.optional().describe("Maximum usage, inclusive. No maximum if not set."),
  })
  .superRefine(({ lowerBound, upperBound }, context) => {
    if (lowerBound !== undefined && upperBound !== undefined && lowerBound > upperBound)
      context.addIssue({
        code: "custom",
        message: `the lower bound ${lowerBound} is above the upper bound ${upperBound}`,
        path: ["lowerBound"],
      });
  });

/** A query for the users who meet all conditions. */
export const userListQuery = z.strictObject({
  conditions: atMost(z.array(usageCondition).min(1), limits.conditions),
});

/** A query for how usage is distributed over the users. */
export const userDistributionQuery = z.strictObject({
  ...attributeValue,
  bins: atMost(z.int().min(1), limits.bins).default(limits.defaultBins).describe("Number of histogram bins."),
});

const queriesOf = <Q extends z.ZodType>(query: Q) => atMost(z.array(query).min(1), limits.queries);
const querying = {
  name: jobName,
  projectId: recordId,
  modelId: recordId.describe("The model to query."),
};

export const submitQueryingJob = route({
  method: "POST",
  path: "/submit-querying-job",
  summary: "Lists the users that meet conditions on usage, or computes the distribution of usage.",
  request: z.discriminatedUnion("queryType", [
    z.strictObject({ ...querying, queryType: z.literal("user_list"), queries: queriesOf(userListQuery) }),
    z.strictObject({
      ...querying,
      queryType: z.literal("user_distribution"),
      queries: queriesOf(userDistributionQuery),
    }),
  ]),
  headers: originHeaders,
  reply: submitted,
});

/** Fields of a new clustering job. */
export const clusteringFields = z.strictObject({
  name: jobName,
  projectId: recordId,
  modelId: recordId.describe("The model whose users are clustered."),
  clusterType: z.enum(["user"], { error: "expected user" }).default("user").describe("What to cluster."),
  parameters: z
    .strictObject({
      minUserNum: z.int().min(1).default(1).describe("Clusters with fewer users are dropped."),
    })
    .describe("Clustering parameters."),
});

export const submitClusteringJob = route({
  method: "POST",
  path: "/submit-clustering-job",
  summary: "Clusters the users of a model by their usage.",
  request: clusteringFields,
  headers: originHeaders,
  reply: submitted,
});

/** Minimum number of held-out pairs for reliable quality metrics. */
export const certainPairs = 100;

/** Whether metrics come from too few pairs to be reliable. False if the number of pairs is unknown. */
export function isUncertain(heldOutPairs: number | null | undefined): boolean {
  return heldOutPairs != null && heldOutPairs < certainPairs;
}

const metric = (text: string) => maybe(z.number()).describe(text);
const count = (text: string) => maybe(z.int()).describe(text);

/** Quality that a training measured on held-out pairs, which were not used to choose parameters. */
export const quality = z.object({
  recallAt20: metric("Share of the held-out items that are among the top 20 recommendations."),
  ndcgAt20: metric(
    "NDCG of the top 20 recommendations. Like recall, but counts items more if they rank higher.",
  ),
  popularityRecallAt20: metric("Recall@20 of a baseline that recommends the most popular items to everyone."),
  popularityNdcgAt20: metric("NDCG@20 of a baseline that recommends the most popular items to everyone."),
  heldOutPairs: count(
    `Number of held-out user-item pairs. The metrics are uncertain if it is below ${certainPairs}.`,
  ),
  heldOutUsers: count(
    "Number of users with held-out pairs. None of these pairs was used to choose parameters.",
  ),
  holdOut: maybe(z.string()).describe(
    "Which pairs were held out: `latest` (the latest of each user), or `random` if events have no time.",
  ),
  learnedOnUsers: count(
    "Number of users from whose events the item vectors were learned, if there are too many events to use all.",
  ),
  allUsers: count("Number of all users. Users not among learnedOnUsers were folded in."),
  unrankedNdcgAt20: metric("NDCG@20 on the latest pairs, without a ranker."),
  rankedNdcgAt20: metric(
    "NDCG@20 on the latest pairs, with this model as the ranker. Equal to unrankedNdcgAt20 if the gain is not significant, because the ranker then changes nothing.",
  ),
  coverageAt20: metric("Share of all items that are in the top 20 of at least one of up to 1,000 users."),
  coldItemsAt20: metric("Share of these recommendations whose items have fewer than 5 users."),
  diversityAt20: metric(
    "Mean dissimilarity of a user's top 20 items: 0 if all are the same, about 1 if they have nothing in common.",
  ),
  shownPopularityAt20: metric(
    "Mean popularity rank of these recommendations: 0 for the least popular item, 1 for the most popular.",
  ),
  chosenPopularity: metric("Mean popularity rank of the items that these users chose."),
});

/** Progress of a running training, as the service in this package reports it. */
export const progress = z.object({
  phase: maybe(z.string()).describe(
    "Current phase: read, weights (of other event types), search, train or attributes.",
  ),
  fraction: metric("Completed share of the phase, from 0 to 1."),
  recallAt20: metric("Best Recall@20 so far."),
  ndcgAt20: metric("Best NDCG@20 so far."),
});

const replyValue = {
  attribute: maybe(z.string()).describe("Item attribute."),
  value: maybe(json).describe("Value of the item attribute."),
};

const replyQuery = z.object({
  conditions: maybe(
    z.array(
      z.object({
        ...replyValue,
        lowerBound: maybe(z.number()).describe("Minimum usage, inclusive."),
        upperBound: maybe(z.number()).describe("Maximum usage, inclusive."),
      }),
    ),
  ).describe("Conditions. A user must meet all of them."),
  ...replyValue,
  bins: maybe(z.int()).describe("Number of histogram bins."),
});

const ids = z.array(z.string());

/** Fields of all job types. A job has only the fields of its type. */
const jobData = z.object({
  algorithmType: maybe(z.string()).describe("Training: type of the algorithm."),
  algorithmParameters: maybe(jsonMap).describe("Training: parameters of the algorithm."),
  // Extensions: the chosen parameters, the measured quality and the progress.
  chosenParameters: maybe(jsonMap).describe(
    "Training: parameters that the service chose, if it reports them.",
  ),
  quality: maybe(quality).describe("Training: measured quality, if the service reports it."),
  progress: maybe(progress).describe("Training: progress, if the service reports it."),
  generatorModelId: maybe(z.string()).describe(
    "Deployment: the model that generates the candidates. Recommendation: the one that was deployed.",
  ),
  rankerModelId: maybe(z.string()).describe("Deployment: the model that reorders the candidates."),
  qps: maybe(z.int()).describe("Deployment: maximum number of recommendation calls per second."),
  rules: maybe(rules).describe("Deployment: what it may recommend, and what it prefers."),
  modelId: maybe(z.string()).describe(
    "Querying and clustering: the model. Recommendation: the model, unless it uses those that were deployed.",
  ),
  queryType: maybe(z.string()).describe("Querying: user_list or user_distribution."),
  queries: maybe(z.array(replyQuery)).describe("Querying: the queries."),
  clusterType: maybe(z.string()).describe("Clustering: what is clustered."),
  parameters: maybe(
    z.object({ minUserNum: maybe(z.int()).describe("Clusters with fewer users are dropped.") }),
  ).describe("Clustering: the parameters."),
  userIds: maybe(ids).describe("Recommendation: the users, without forgotten ones. Null for all."),
  query: maybe(replyQuery).describe("Recommendation: the conditions that the users meet."),
  limit: maybe(z.int()).describe("Recommendation: maximum number of items per user."),
  attributes: maybe(ids).describe("Recommendation: item attributes in the file."),
  filterQuery: maybe(z.string()).describe("Recommendation: the filter."),
  excludeItemIds: maybe(ids).describe("Recommendation: items that are not recommended."),
  includeItemIds: maybe(ids).describe("Recommendation: the only items that may be recommended."),
  format: maybe(z.string()).describe("Recommendation: ndjson or parquet."),
});

const jobResult = z.object({
  modelId: maybe(z.string()).describe("Training: the trained model."),
  servingUri: maybe(z.string()).describe("Deployment: address of the project's recommendation service."),
  stableServingUri: maybe(z.string()).describe(
    "Deployment: address that stays the same when the stack replaces the project (extension).",
  ),
  downloadUrl: maybe(z.string()).describe(
    "Querying, clustering and recommendation: address from which the result can be downloaded until it expires.",
  ),
  expiredAtSec: maybe(z.number()).describe("When downloadUrl expires, in seconds since 1970."),
  message: maybe(z.string()).describe("Message of the service about the result."),
  userCount: maybe(z.int()).describe("Recommendation: number of users in the result."),
});

export const getJob = route({
  method: "GET",
  path: "/get-job",
  summary: "Reads a job with its status and result.",
  request: z.strictObject({
    projectId: recordId.describe("Id of the project."),
    jobId: recordId.describe("Id of the job."),
  }),
  reply: z.object({
    projectId: maybe(z.string()).describe("Id of the project."),
    jobId: maybe(z.string()).describe("Id of the job."),
    jobType: maybe(z.string()).describe("TRAINING, DEPLOYMENT, QUERYING, CLUSTERING or RECOMMENDATION."),
    createdTs: maybe(z.int()).describe(
      "When the job was submitted, in milliseconds since 1970. Other services may use another unit.",
    ),
    name: maybe(z.string()).describe("Display name of the job."),
    jobData: maybe(jobData).describe("Parameters of the job, and what it reports."),
    jobResult: maybe(jobResult).describe("Result of the job, once it has succeeded."),
    jobStatus: z
      .string()
      .describe("SUCCEED if the job has succeeded. A job with an unknown status is treated as running."),
    retryCount: maybe(z.int()).describe("How often the service has retried the job."),
  }),
});
