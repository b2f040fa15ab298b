import { routes } from "../../contract";
import { ObservedService } from "./observed-service";
import { engineWorkspace } from "./workspace";

test("a refresh of 50 event datasets and 50 models makes one call for each kind and project", async () => {
  const observed = await ObservedService.start({ planShards: 1000 });
  const { call } = { call: observed.call.bind(observed) };
  const { userDatasetId } = await call(routes.createUserDataset, { name: "users", numShards: 1 });
  const { itemDatasetId } = await call(routes.createItemDataset, { name: "items", numShards: 1 });
  const { eventDatasetId } = await call(routes.createEventDataset, { name: "events", numShards: 1 });
  const datasets = { userDatasetId, itemDatasetId, eventDatasetId };
  await observed.load({ users: userDatasetId, items: itemDatasetId, events: eventDatasetId });
  const { projectId } = await call(routes.createProject, {
    name: "p",
    targetEventType: "purchase",
    ...datasets,
  });
  const algorithmParameters = { dimensions: 4, epochs: 1, regularization: 0.1, alpha: 0.1 };
  const { algorithmId } = await call(routes.createAlgorithm, { projectId, name: "a", algorithmParameters });
  const workspace = await engineWorkspace(
    `
import * as recommender from "pulumi-recommender";
for (let n = 0; n < 50; n++) {
  new recommender.EventDataset("e" + n, { numShards: 1 });
  new recommender.Model("m" + n, { projectId: "${projectId}", algorithmId: "${algorithmId}" });
}
`,
    observed.environment,
  );
  await workspace.stack.up({ parallel: 16 });
  const made = observed.calls();
  expect(made.filter((path) => path === "POST /create-event-dataset")).toHaveLength(50);
  expect(made.filter((path) => path === "POST /submit-training-job")).toHaveLength(50);
  const { summary } = await workspace.stack.refresh({ parallel: 16 });
  expect(summary.resourceChanges).toEqual({ same: 151 });
  // One call for the project is enough for all of its jobs.
  const read = observed.calls().filter((call) => call !== "GET /healthz");
  expect(read.sort()).toEqual(["GET /get-project", "GET /list-event-datasets", "GET /list-models"]);
  await workspace.dispose();
  await observed.close();
});
