import { z } from "zod";
import { atMost, id, json, jsonMap, label, maybe, recordId, withTolerant } from "./field";
import { limits } from "./limits";
import { originHeaders } from "./origin";
import { route } from "./route";

/** The kinds of job. */
export const jobTypes = ["TRAINING", "DEPLOYMENT", "QUERYING", "CLUSTERING"] as const;

/** The states of a job; only SUCCEED is in the specification, the others are our own service's words. */
export const jobStatuses = ["PENDING", "RUNNING", "SUCCEED", "FAILED"] as const;

const submitted = z.object({ jobId: id });
const jobName = label.describe("Name of the job, for people.");

export const submitTrainingJob = route({
  method: "POST",
  path: "/submit-training-job",
  summary: "Trains a model by an algorithm; the model gets the name of the job.",
  request: z.strictObject({ projectId: recordId, algorithmId: recordId, name: jobName }),
  headers: originHeaders,
  reply: submitted,
});

/** What a deployment is submitted with. */
export const deploymentFields = z.strictObject({
  projectId: recordId.describe("The project whose recommendation call is to serve."),
  name: jobName,
  generatorModelId: recordId.describe("The model that produces the results."),
  rankerModelId: recordId.optional().describe("The model that puts the generator's results in a new order."),
  qps: atMost(z.int().min(1), limits.qps)
    .default(limits.defaultQps)
    .describe("Queries per second that the recommendation call may use."),
});

export const submitDeploymentJob = route({
  method: "POST",
  path: "/submit-deployment-job",
  summary: "Deploys a model, or a generator and a ranker, for the recommendation call of a project.",
  request: deploymentFields,
  headers: originHeaders,
  reply: submitted,
});

/** One value of one item attribute. */
const attributeValue = {
  attribute: atMost(z.string().min(1), limits.nameCharacters).describe("Item attribute."),
  // The specification shows no type; these are what an attribute of one category or number can hold.
  value: z
    .union([atMost(z.string(), limits.valueCharacters), z.number(), z.boolean()])
    .describe("Value of the item attribute."),
};

const share = "usage is a share between 0 and 1, not percent: 0.2 stands for 20 %";

/** The specification shows no unit of usage. */
const usage = withTolerant(z.number().min(0, share).max(1, share), z.number());

/** A bound on a user's usage of one value of one item attribute. */
export const usageCondition = z
  .strictObject({
    ...attributeValue,
    lowerBound: usage.optional().describe("Least usage, included; none when left out."),
    upperBound: usage.optional().describe("Greatest usage, included; none when left out."),
  })
  .superRefine(({ lowerBound, upperBound }, context) => {
    if (lowerBound !== undefined && upperBound !== undefined && lowerBound > upperBound)
      context.addIssue({
        code: "custom",
        message: `the lower bound ${lowerBound} is above the upper bound ${upperBound}`,
        path: ["lowerBound"],
      });
  });

/** Asks for the users who meet all conditions. */
export const userListQuery = z.strictObject({
  conditions: atMost(z.array(usageCondition).min(1), limits.conditions),
});

/** Asks how usage of one value is spread over the users. */
export const userDistributionQuery = z.strictObject({
  ...attributeValue,
  bins: atMost(z.int().min(1), limits.bins).default(limits.defaultBins).describe("Number of histogram bins."),
});

const queriesOf = <Q extends z.ZodType>(query: Q) => atMost(z.array(query).min(1), limits.queries);
const querying = {
  name: jobName,
  projectId: recordId,
  modelId: recordId.describe("The model that is asked."),
};

export const submitQueryingJob = route({
  method: "POST",
  path: "/submit-querying-job",
  summary: "Lists users by what they use, or counts them in a distribution.",
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

/** What a clustering is submitted with. */
export const clusteringFields = z.strictObject({
  name: jobName,
  projectId: recordId,
  modelId: recordId.describe("The model whose view of the users is grouped."),
  clusterType: z.enum(["user"], { error: "expected user" }).default("user").describe("What is grouped."),
  parameters: z
    .strictObject({
      minUserNum: z.int().min(1).default(1).describe("Groups with fewer users are dropped."),
    })
    .describe("Clustering parameters."),
});

export const submitClusteringJob = route({
  method: "POST",
  path: "/submit-clustering-job",
  summary: "Groups the users that a model knows by what they use.",
  request: clusteringFields,
  headers: originHeaders,
  reply: submitted,
});

/** Figures that rest on fewer held-out pairs are uncertain. */
export const certainPairs = 100;

/** Whether figures rest on too few pairs to be relied on; not where that is not known. */
export function isUncertain(heldOutPairs: number | null | undefined): boolean {
  return heldOutPairs != null && heldOutPairs < certainPairs;
}

/** What a training measured on held-out pairs of users who had no part in the choice of its parameters. */
export const quality = z.object({
  recallAt20: maybe(z.number()).describe(
    "Share of the held-out items that are among the first 20 recommended.",
  ),
  ndcgAt20: maybe(z.number()).describe("The same, weighted by rank."),
  popularityRecallAt20: maybe(z.number()).describe(
    "The Recall@20 that recommending the most popular items to everyone would have reached.",
  ),
  popularityNdcgAt20: maybe(z.number()).describe(
    "The NDCG@20 that recommending the most popular items to everyone would have reached.",
  ),
  heldOutPairs: maybe(z.int()).describe(
    `Pairs of user and item that the figures rest on; fewer than ${certainPairs} make them uncertain.`,
  ),
  heldOutUsers: maybe(z.int()).describe(
    "Users that these pairs belong to; none of them had a part in the choice of parameters.",
  ),
  holdOut: maybe(z.string()).describe(
    "Which pairs were held out: `latest`, the latest of each user, or `random` where the events have no time.",
  ),
  learnedOnUsers: maybe(z.int()).describe(
    "Users whose events the vectors of the items were learned from, where there are too many events for all users.",
  ),
  allUsers: maybe(z.int()).describe("All users, of whom those are some; the others were folded in."),
  unrankedNdcgAt20: maybe(z.number()).describe("NDCG@20 of the model's candidates on the latest pairs."),
  rankedNdcgAt20: maybe(z.number()).describe(
    "The same with the model as the ranker; the same figure if its gain is not significant, for it changes nothing then.",
  ),
  coverageAt20: maybe(z.number()).describe(
    "Share of all items that are among the first 20 for at least one of up to 1,000 users.",
  ),
  coldItemsAt20: maybe(z.number()).describe("Share of these results that fewer than 5 users chose."),
  diversityAt20: maybe(z.number()).describe(
    "How unlike the 20 items of a user are: 0 where all are the same, about 1 where they have nothing in common.",
  ),
  shownPopularityAt20: maybe(z.number()).describe(
    "Mean place of these results in the order of popularity: 0 for the least popular item, 1 for the most popular.",
  ),
  chosenPopularity: maybe(z.number()).describe("The same of what these users chose."),
});

/** How far a training is, as our own service tells it while the job runs. */
export const progress = z.object({
  phase: maybe(z.string()).describe(
    "What is being done: read, weights (of events of other types), search, train or attributes.",
  ),
  fraction: maybe(z.number()).describe("How much of the phase is done, from 0 to 1."),
  recallAt20: maybe(z.number()).describe("The best that was found until now."),
  ndcgAt20: maybe(z.number()).describe("The best that was found until now."),
});

const answeredValue = {
  attribute: maybe(z.string()).describe("Item attribute."),
  value: maybe(json).describe("Value of the item attribute."),
};

const answeredQuery = z.object({
  conditions: maybe(
    z.array(
      z.object({
        ...answeredValue,
        lowerBound: maybe(z.number()).describe("Least usage, included."),
        upperBound: maybe(z.number()).describe("Greatest usage, included."),
      }),
    ),
  ).describe("Conditions, all of which a user must meet."),
  ...answeredValue,
  bins: maybe(z.int()).describe("Number of histogram bins."),
});

/** The fields of all four kinds, each there for its kind only. */
const jobData = z.object({
  algorithmType: maybe(z.string()).describe("Training: the kind of its algorithm."),
  algorithmParameters: maybe(jsonMap).describe("Training: the parameters of its algorithm."),
  // What our own service reports beyond the specification: the parameters it chose and how good they measured.
  chosenParameters: maybe(jsonMap).describe(
    "Training: the parameters that the service chose, where it reports them.",
  ),
  quality: maybe(quality).describe("Training: what it measured, where the service reports it."),
  progress: maybe(progress).describe("Training: how far it is, where the service reports it."),
  generatorModelId: maybe(z.string()).describe("Deployment: the model that produces the results."),
  rankerModelId: maybe(z.string()).describe(
    "Deployment: the model that puts the generator's results in a new order.",
  ),
  qps: maybe(z.int()).describe("Deployment: queries per second that the recommendation call may use."),
  modelId: maybe(z.string()).describe("Querying and clustering: the model that is asked."),
  queryType: maybe(z.string()).describe("Querying: whether users are listed or their distribution is drawn."),
  queries: maybe(z.array(answeredQuery)).describe("Querying: the queries."),
  clusterType: maybe(z.string()).describe("Clustering: what is grouped."),
  parameters: maybe(
    z.object({ minUserNum: maybe(z.int()).describe("Groups with fewer users are dropped.") }),
  ).describe("Clustering: its parameters."),
});

const jobResult = z.object({
  modelId: maybe(z.string()).describe("Training: the model."),
  servingUri: maybe(z.string()).describe("Deployment: the address of the project's recommendation service."),
  stableServingUri: maybe(z.string()).describe(
    "Deployment: an address that stays the same when the stack replaces its project; beyond the specification.",
  ),
  downloadUrl: maybe(z.string()).describe(
    "Querying and clustering: where the result can be fetched until it expires.",
  ),
  expiredAtSec: maybe(z.number()).describe("When that address stops working, in seconds since 1970."),
  message: maybe(z.string()).describe("What the service says of the result, if anything."),
});

export const getJob = route({
  method: "GET",
  path: "/get-job",
  summary: "Reads a job with its status and its result.",
  request: z.strictObject({
    projectId: recordId.describe("Id of the project."),
    jobId: recordId.describe("Id of the job."),
  }),
  reply: z.object({
    projectId: maybe(z.string()).describe("Id of its project."),
    jobId: maybe(z.string()).describe("Id of the job."),
    jobType: maybe(z.string()).describe("TRAINING, DEPLOYMENT, QUERYING or CLUSTERING."),
    createdTs: maybe(z.int()).describe(
      "When it was submitted, in milliseconds since 1970; another service may have another unit.",
    ),
    name: maybe(z.string()).describe("Name of the job, for people."),
    jobData: maybe(jobData).describe("What it was asked for, and what it reports."),
    jobResult: maybe(jobResult).describe("Its result, once it has succeeded."),
    jobStatus: z.string().describe("SUCCEED when done; an unknown word is a job still under way."),
    retryCount: maybe(z.int()).describe("How often the service has retried it."),
  }),
});
