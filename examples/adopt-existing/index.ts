import * as pulumi from "@pulumi/pulumi";
import * as recommender from "pulumi-recommender";

// The ids of the existing objects, one `pulumi config set` each.
// After the first `pulumi up` you can remove all of them except the model's id.
// Without the model's id, a new model would be trained and the existing one deleted.
const existing = new pulumi.Config();
const projectId = existing.require("projectId");

// The API can read event datasets and models, so the declaration is compared with the existing object.
// Differences are changed in place, or reported as an error if that is not possible.
const events = new recommender.EventDataset("events", {
  existingId: existing.require("eventDatasetId"),
  numShards: existing.requireNumber("eventShards"),
});
const model = new recommender.Model("model", { existingId: existing.require("modelId"), projectId });

// The API cannot read these objects, so they are adopted as declared.
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

// The deployment is not adopted. Without `existingId`, a new one is created.
const live = new recommender.Deployment("live", {
  projectId: project.id,
  generatorModelId: model.modelId,
  qps: 5,
  check: { userIds: ["u1"] },
});

export const servingUri = live.servingUri;
