import * as pulumi from "@pulumi/pulumi";
import * as recommender from "pulumi-recommender";

// The ids of what is there already, one `pulumi config set` each. Once `pulumi up` has taken the things over they may
// be left out again, but for that of the model: a model without one is trained.
const existing = new pulumi.Config();
const projectId = existing.require("projectId");

// Event datasets and models can be read back: what is declared is compared with what is there, a difference that
// cannot be changed is an error, and one that can is changed.
const events = new recommender.EventDataset("events", {
  existingId: existing.require("eventDatasetId"),
  numShards: existing.requireNumber("eventShards"),
});
const model = new recommender.Model("model", { existingId: existing.require("modelId"), projectId });

// The others cannot be read back: they are taken over as declared.
const users = new recommender.UserDataset("users", {
  existingId: existing.require("userDatasetId"),
  numShards: 1,
});
const items = new recommender.ItemDataset("items", {
  existingId: existing.require("itemDatasetId"),
  numShards: 1,
});
const project = new recommender.Project("shop", {
  existingId: projectId,
  userDatasetId: users.id,
  itemDatasetId: items.id,
  eventDatasetId: events.id,
  targetEventType: "purchase",
});

// From here on the deployment is declared like any other.
const live = new recommender.Deployment("live", {
  projectId: project.id,
  generatorModelId: model.modelId,
  qps: 5,
  check: { userIds: ["u1"] },
});

export const servingUri = live.servingUri;
