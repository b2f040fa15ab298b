/** Program with datasets and a project that uses them. */
export const program = `
import * as recommender from "pulumi-recommender";
const users = new recommender.UserDataset("users", { numShards: 1 });
const items = new recommender.ItemDataset("items", { numShards: 1 });
const events = new recommender.EventDataset("events", { numShards: 1, name: "events" });
const spare = [1, 2, 3].map((n) => new recommender.EventDataset("spare" + n, { numShards: 1 }));
const project = new recommender.Project("shop", {
  userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "purchase",
});
export const eventDatasetId = events.eventDatasetId;
export const projectId = project.projectId;
`;

/** Resources that deploy the project. */
export const served = `
const algorithm = new recommender.Algorithm("g1", { projectId: project.id });
const model = new recommender.Model("weekly", { projectId: project.id, algorithmId: algorithm.id });
const live = new recommender.Deployment("live", {
  projectId: project.id, generatorModelId: model.modelId, qps: 3, check: { userIds: ["u"] },
});
export const modelId = model.modelId;
`;
