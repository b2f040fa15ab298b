import type { EngineEvent } from "@pulumi/pulumi/automation";
import { routes } from "../../contract";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, exampleWorkspace } from "./workspace";

/** Objects that stay after each example is destroyed, because the API cannot delete them. */
const examples: Record<string, { stack?: string; left: string[]; jobs: number }> = {
  quickstart: {
    left: ["Algorithm g1", "ItemDataset items", "Project record-shop", "UserDataset users"],
    jobs: 4,
  },
  "multi-environment": {
    stack: "dev",
    left: ["Algorithm g1", "ItemDataset items", "Project shop", "UserDataset users"],
    jobs: 2,
  },
  "shared-events": {
    left: [
      "Algorithm broad",
      "Algorithm discover",
      "Algorithm narrow",
      "ItemDataset items",
      "Project checkout",
      "Project discover",
      "UserDataset users",
    ],
    jobs: 5,
  },
};

describe.each(Object.entries(examples))("the example %s", (name, { stack, left, jobs }) => {
  let observed: ObservedService;
  let workspace: EngineWorkspace;
  beforeAll(async () => {
    observed = await ObservedService.start();
    const environment = await observed.environmentOf("ci", "read", "write", "recommend");
    workspace = await exampleWorkspace(name, environment, stack);
  });
  afterAll(async () => {
    await workspace.dispose();
    await observed.close();
  });
  const writes = () =>
    observed.calls().filter((call) => !call.startsWith("GET") && !call.includes("/recommend-items-to-user"));

  test("runs with the scopes to read, write and recommend, submits one job per resource, and a second run writes nothing", async () => {
    const { outputs } = await workspace.stack.up();
    expect(writes().filter((call) => call.includes("/submit-"))).toHaveLength(jobs);
    for (const { value } of Object.values(outputs)) expect(value).toBeTruthy();
    const again = await workspace.stack.up();
    expect(Object.keys(again.summary.resourceChanges ?? {})).toEqual(["same"]);
    expect(writes()).toEqual([]);
  });

  test("shows its drift after a refresh", async () => {
    const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
    const [{ eventDatasetId }] = eventDatasets;
    await observed.call(routes.updateEventDataset, {
      eventDatasetId,
      name: "by hand",
      attributeSchema: null,
    });
    const { summary } = await workspace.stack.refresh();
    expect(summary.resourceChanges).toMatchObject({ update: 1 });
  });

  test("is destroyed except for objects that the API cannot delete, which are listed", async () => {
    const said: string[] = [];
    await workspace.stack.destroy({ onEvent: (event) => said.push(...leftBehind(event)) });
    expect(said.sort()).toEqual(left);
    expect((await observed.call(routes.listEventDatasets, {})).eventDatasets).toEqual([]);
    const projects = [...new Set(said.filter((line) => line.startsWith("Project")))];
    expect(projects.length).toBeGreaterThan(0);
  });
});

describe("the example adopt-existing", () => {
  test("adopts all objects and creates only the deployment", async () => {
    const observed = await ObservedService.start();
    const call = observed.call.bind(observed);
    const { userDatasetId } = await call(routes.createUserDataset, { name: "users", numShards: 1 });
    const { itemDatasetId } = await call(routes.createItemDataset, { name: "items", numShards: 1 });
    const { eventDatasetId } = await call(routes.createEventDataset, { name: "events", numShards: 2 });
    const datasets = { userDatasetId, itemDatasetId, eventDatasetId };
    await observed.load({ users: userDatasetId, items: itemDatasetId, events: eventDatasetId });
    const target = { name: "shop", targetEventType: "purchase" };
    const { projectId } = await call(routes.createProject, { ...target, ...datasets });
    const { algorithmId } = await call(routes.createAlgorithm, { projectId, name: "g1" });
    const { jobId } = await call(routes.submitTrainingJob, { projectId, algorithmId, name: "by hand" });
    await observed.service.idle();
    const modelId = (await call(routes.getJob, { projectId, jobId })).jobResult?.modelId as string;
    const workspace = await exampleWorkspace("adopt-existing", observed.environment);
    const ids = { ...datasets, projectId, modelId, eventShards: "2" };
    for (const [key, value] of Object.entries(ids)) await workspace.stack.setConfig(key, { value });

    observed.calls();
    const { outputs } = await workspace.stack.up();
    expect(outputs.servingUri?.value).toContain(projectId);
    const made = observed.calls().filter((path) => /create-|submit-/.test(path));
    expect(made).toEqual(["POST /submit-deployment-job"]);
    await workspace.stack.up();
    expect(observed.calls()).toEqual([]);
    await workspace.stack.destroy();
    expect(
      observed
        .calls()
        .filter((path) => path.startsWith("DELETE"))
        .sort(),
    ).toEqual(["DELETE /delete-event-dataset", "DELETE /delete-model", "DELETE /shutdown-deployment"]);
    await workspace.dispose();
    await observed.close();
  });
});

function leftBehind({ diagnosticEvent }: EngineEvent): string[] {
  const found = /(\w+ [\w-]+) \(\S+\) is orphaned/.exec(diagnosticEvent?.message ?? "");
  return found ? [found[1]] : [];
}
