/** Arguments of a resource. */
export type Properties = Record<string, unknown>;
/** Effect of a new value of an argument. */
export type Rule = "in place" | "replaced" | "no change";

export const dataset = { name: "n", numShards: 10, attributeSchema: { age: "NUMERICAL" } };
export const project = {
  name: "n",
  projectType: "RECOMMEND_ITEMS_TO_USER",
  userDatasetId: "u",
  itemDatasetId: "i",
  eventDatasetId: "e",
  targetEventType: "purchase",
};
export const deployment = { name: "n", projectId: "p", generatorModelId: "m", rankerModelId: "r", qps: 1 };
export const query = { name: "n", projectId: "p", modelId: "m", queryType: "user_list" };
const conditions = [{ conditions: [{ attribute: "genre", value: "jazz", lowerBound: 0.1 }] }];
export const clustering = {
  name: "n",
  projectId: "p",
  modelId: "m",
  clusterType: "user",
  parameters: { minUserNum: 5 },
};
const campaign = { name: "n", projectId: "p", limit: 10, attributes: [], format: "ndjson" };
const otherCampaigns: Record<string, [unknown, Rule]> = {
  name: ["o", "replaced"],
  projectId: ["o", "replaced"],
  modelId: ["m", "replaced"],
  userIds: [["u1"], "replaced"],
  query: [{ conditions: [{ attribute: "genre", value: "folk" }] }, "replaced"],
  limit: [5, "replaced"],
  attributes: [["title"], "replaced"],
  filterQuery: ["item.price < 20", "replaced"],
  excludeItemIds: [["i1"], "replaced"],
  includeItemIds: [["i1"], "replaced"],
  format: ["parquet", "replaced"],
};
export const records = {
  // Asset in Pulumi's protocol.
  source: { text: "user_id,item_id,ts,event_type\nu,i,1700000000,buy\n" },
  contentHash: "sha256:1",
  format: "csv",
  mapping: {},
  maxFailures: 0,
};
const otherRecords: Record<string, [unknown, Rule]> = {
  source: ["moved.csv", "no change"],
  contentHash: ["sha256:2", "in place"],
  format: [undefined, "in place"],
  mapping: [{ attributes: ["age"] }, "in place"],
  maxFailures: [5, "no change"],
  parallel: [2, "no change"],
  numShards: [20, "no change"],
  rejectsFile: ["rejects.ndjson", "no change"],
};

/** Every resource type with example arguments, and for each argument a new value with its effect. */
export const rules: Record<string, { args: Properties; others: Record<string, [unknown, Rule]> }> = {
  UserDataset: {
    args: dataset,
    others: {
      name: ["o", "replaced"],
      numShards: [11, "replaced"],
      attributeSchema: [{ age: "CATEGORICAL" }, "replaced"],
      existingId: ["another", "replaced"],
    },
  },
  ItemDataset: {
    args: dataset,
    others: {
      name: ["o", "replaced"],
      numShards: [11, "replaced"],
      attributeSchema: [null, "replaced"],
      existingId: ["another", "replaced"],
    },
  },
  EventDataset: {
    args: dataset,
    others: {
      name: ["o", "in place"],
      numShards: [11, "replaced"],
      attributeSchema: [null, "in place"],
      existingId: ["another", "replaced"],
    },
  },
  UserRecords: {
    args: { ...records, userDatasetId: "u" },
    others: { ...otherRecords, userDatasetId: ["o", "replaced"] },
  },
  ItemRecords: {
    args: { ...records, itemDatasetId: "i" },
    others: { ...otherRecords, itemDatasetId: ["o", "replaced"] },
  },
  EventRecords: {
    args: { ...records, eventDatasetId: "e" },
    others: { ...otherRecords, eventDatasetId: ["o", "replaced"] },
  },
  Project: {
    args: project,
    others: {
      name: ["o", "replaced"],
      projectType: ["OTHER", "replaced"],
      userDatasetId: ["o", "replaced"],
      itemDatasetId: ["o", "replaced"],
      eventDatasetId: ["o", "replaced"],
      targetEventType: ["click", "replaced"],
      existingId: ["another", "replaced"],
    },
  },
  Algorithm: {
    args: { name: "n", projectId: "p", algorithmType: "G1", algorithmParameters: { dimensions: 32 } },
    others: {
      name: ["o", "replaced"],
      projectId: ["o", "replaced"],
      algorithmType: ["G2", "replaced"],
      algorithmParameters: [{}, "replaced"],
      existingId: ["another", "replaced"],
    },
  },
  TrainingJob: {
    args: { name: "n", projectId: "p", algorithmId: "a", triggers: ["2026-W46"] },
    others: {
      name: ["o", "no change"],
      projectId: ["o", "replaced"],
      algorithmId: ["o", "replaced"],
      triggers: [["2026-W47"], "replaced"],
    },
  },
  Model: {
    args: { name: "n", projectId: "p", algorithmId: "a", submittedJobId: "j" },
    others: {
      name: ["o", "in place"],
      projectId: ["o", "replaced"],
      algorithmId: ["o", "no change"],
      submittedJobId: ["o", "replaced"],
      existingId: ["another", "replaced"],
    },
  },
  DeploymentJob: {
    args: deployment,
    others: {
      name: ["o", "no change"],
      projectId: ["o", "replaced"],
      generatorModelId: ["o", "in place"],
      rankerModelId: [undefined, "in place"],
      qps: [2, "in place"],
      rules: [{ filter: "item.price > 1" }, "in place"],
    },
  },
  Deployment: {
    args: { ...deployment, submittedJobId: "j", check: { userIds: ["u"], minResults: 1 }, rollback: false },
    others: {
      name: ["o", "no change"],
      projectId: ["o", "replaced"],
      generatorModelId: ["o", "in place"],
      rankerModelId: [undefined, "in place"],
      qps: [2, "in place"],
      rules: [{ filter: "item.price > 1" }, "in place"],
      submittedJobId: ["o", "in place"],
      check: [{ userIds: ["v"], minResults: 1 }, "in place"],
      rollback: [true, "in place"],
      existingId: ["another", "replaced"],
    },
  },
  QueryingJob: {
    args: { ...query, queries: conditions },
    others: {
      name: ["o", "replaced"],
      projectId: ["o", "replaced"],
      modelId: ["o", "replaced"],
      queryType: ["user_distribution", "replaced"],
      queries: [[{ conditions: [{ attribute: "genre", value: "folk" }] }], "replaced"],
    },
  },
  UserQuery: {
    args: { ...query, queries: conditions, submittedJobId: "j" },
    others: {
      name: ["o", "replaced"],
      projectId: ["o", "replaced"],
      modelId: ["o", "replaced"],
      queryType: ["user_distribution", "replaced"],
      queries: [[{ conditions: [{ attribute: "genre", value: "folk" }] }], "replaced"],
      submittedJobId: ["o", "replaced"],
      existingId: ["another", "replaced"],
    },
  },
  ClusteringJob: {
    args: clustering,
    others: {
      name: ["o", "replaced"],
      projectId: ["o", "replaced"],
      modelId: ["o", "replaced"],
      clusterType: ["item", "replaced"],
      parameters: [{ minUserNum: 6 }, "replaced"],
    },
  },
  UserClustering: {
    args: { ...clustering, submittedJobId: "j" },
    others: {
      name: ["o", "replaced"],
      projectId: ["o", "replaced"],
      modelId: ["o", "replaced"],
      clusterType: ["item", "replaced"],
      parameters: [{ minUserNum: 6 }, "replaced"],
      submittedJobId: ["o", "replaced"],
      existingId: ["another", "replaced"],
    },
  },
  RecommendationJob: { args: campaign, others: otherCampaigns },
  UserRecommendations: {
    args: { ...campaign, submittedJobId: "j" },
    others: {
      ...otherCampaigns,
      submittedJobId: ["o", "replaced"],
      existingId: ["another", "replaced"],
    },
  },
};
