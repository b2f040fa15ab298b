import * as recommender from "pulumi-recommender";

const users = new recommender.UserDataset("users", { numShards: 1 });
const items = new recommender.ItemDataset("items", { numShards: 1 });
// Both projects learn from the same events, each from a different event type.
const events = new recommender.EventDataset("events", { numShards: 1 });
const catalogue = new recommender.ItemRecords("catalogue", {
  itemDatasetId: items.id,
  source: "../quickstart/data/items.csv",
});
const history = new recommender.EventRecords("history", {
  eventDatasetId: events.id,
  source: "../quickstart/data/events.csv",
});
const datasets = { userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id };
const triggers = [catalogue.contentHash, history.contentHash];

const discover = new recommender.Project("discover", { ...datasets, targetEventType: "view" });
const discoverAlgorithm = new recommender.Algorithm("discover", { projectId: discover.id });
const viewed = new recommender.Model("viewed", {
  projectId: discover.id,
  algorithmId: discoverAlgorithm.id,
  triggers,
});
const discoverLive = new recommender.Deployment("discover", {
  projectId: discover.id,
  generatorModelId: viewed.modelId,
  qps: 20,
});

const checkout = new recommender.Project("checkout", { ...datasets, targetEventType: "purchase" });
const broad = new recommender.Algorithm("broad", { projectId: checkout.id });
const narrow = new recommender.Algorithm("narrow", {
  projectId: checkout.id,
  algorithmParameters: { dimensions: 8 },
});
const generator = new recommender.Model("generator", {
  projectId: checkout.id,
  algorithmId: broad.id,
  triggers,
});
const ranker = new recommender.Model("ranker", { projectId: checkout.id, algorithmId: narrow.id, triggers });
// The generator finds candidates, and the ranker orders them.
const checkoutLive = new recommender.Deployment("checkout", {
  projectId: checkout.id,
  generatorModelId: generator.modelId,
  rankerModelId: ranker.modelId,
  qps: 20,
  check: { userIds: ["ada", "ben"] },
});

// Each project has its own address.
export const servingUris = { discover: discoverLive.servingUri, checkout: checkoutLive.servingUri };
