import * as recommender from "pulumi-recommender";

// A small record shop: users, items and events.
const users = new recommender.UserDataset("users", {
  numShards: 1,
  attributeSchema: { age: "NUMERICAL", country: "CATEGORICAL" },
});
const items = new recommender.ItemDataset("items", {
  numShards: 1,
  attributeSchema: { genre: "CATEGORICAL", year: "NUMERICAL" },
});
const events = new recommender.EventDataset("events", { numShards: 1 });

const userRecords = new recommender.UserRecords("users", {
  userDatasetId: users.id,
  source: "data/users.csv",
});
const itemRecords = new recommender.ItemRecords("items", {
  itemDatasetId: items.id,
  source: "data/items.csv",
});
const eventRecords = new recommender.EventRecords("events", {
  eventDatasetId: events.id,
  source: "data/events.csv",
});

const project = new recommender.Project("record-shop", {
  userDatasetId: users.id,
  itemDatasetId: items.id,
  eventDatasetId: events.id,
  targetEventType: "purchase",
});
const algorithm = new recommender.Algorithm("g1", { projectId: project.id });

// Trained again only if one of the files changes.
const model = new recommender.Model("weekly", {
  projectId: project.id,
  algorithmId: algorithm.id,
  triggers: [userRecords.contentHash, itemRecords.contentHash, eventRecords.contentHash],
});

// A new model takes over without downtime. If it fails the check, the deployment rolls back to the previous model.
const live = new recommender.Deployment("live", {
  projectId: project.id,
  generatorModelId: model.modelId,
  qps: 10,
  check: { userIds: ["ada"], minResults: 3 },
  rollback: true,
});

// Questions about the users.
const jazzLovers = new recommender.UserQuery("jazz-lovers", {
  projectId: project.id,
  modelId: model.modelId,
  queryType: "user_list",
  queries: [{ conditions: [{ attribute: "genre", value: "jazz", lowerBound: 0.5 }] }],
});
const groups = new recommender.UserClustering("groups", {
  projectId: project.id,
  modelId: model.modelId,
  parameters: { minUserNum: 3 },
});

export const servingUri = live.servingUri;
export const quality = model.quality;
export const jazzLoversUrl = jazzLovers.downloadUrl;
export const groupsUrl = groups.downloadUrl;
export const forAda = recommender
  .recommendOutput({ userId: "ada", attributes: ["title", "genre"], limit: 3, servingUri: live.servingUri })
  .results.apply((results) =>
    results.map(({ item }) => `${item.attributes.title} (${item.attributes.genre})`),
  );
