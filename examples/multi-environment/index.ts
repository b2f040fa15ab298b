import * as pulumi from "@pulumi/pulumi";
import * as recommender from "pulumi-recommender";

const config = new pulumi.Config();
const stack = pulumi.getStack();
const numShards = config.requireNumber("numShards");
// Replacing a dataset loses its records, so production protects the datasets.
const data: pulumi.CustomResourceOptions = { protect: config.getBoolean("protectData") ?? false };

const users = new recommender.UserDataset("users", { name: `users-${stack}`, numShards }, data);
const items = new recommender.ItemDataset("items", { name: `items-${stack}`, numShards }, data);
const events = new recommender.EventDataset("events", { name: `events-${stack}`, numShards }, data);

const catalogue = new recommender.ItemRecords("catalogue", {
  itemDatasetId: items.id,
  source: "../quickstart/data/items.csv",
});
const history = new recommender.EventRecords("history", {
  eventDatasetId: events.id,
  source: "../quickstart/data/events.csv",
});

const project = new recommender.Project("shop", {
  name: `shop-${stack}`,
  userDatasetId: users.id,
  itemDatasetId: items.id,
  eventDatasetId: events.id,
  targetEventType: "purchase",
});
const algorithm = new recommender.Algorithm("g1", { projectId: project.id });
// Keep replaced models, so `recommender rollback` can deploy them again.
const model = new recommender.Model(
  "model",
  {
    projectId: project.id,
    algorithmId: algorithm.id,
    triggers: [catalogue.contentHash, history.contentHash],
  },
  { retainOnDelete: true },
);
const live = new recommender.Deployment("live", {
  projectId: project.id,
  generatorModelId: model.modelId,
  qps: config.requireNumber("qps"),
  check: { userIds: ["ada"] },
  rollback: true,
});

export const servingUri = live.servingUri;
