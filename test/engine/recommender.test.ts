import type { EngineEvent, OutputMap } from "@pulumi/pulumi/automation";
import { routes } from "../../contract";
import { fixed } from "../faults/program";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

interface Declared {
  readonly trained?: boolean;
  readonly eventsName?: string;
  readonly eventShards?: number;
  readonly modelName?: string;
  readonly trigger?: string;
  readonly qps?: number;
}

/** Program of the quick start. */
function program({
  trained = true,
  eventsName = "events",
  eventShards = 2,
  modelName = "weekly",
  trigger = "w1",
  qps = 50,
}: Declared) {
  return `
import * as recommender from "pulumi-recommender";
const users = new recommender.UserDataset("users", { numShards: 1, attributeSchema: { likes: "CATEGORICAL" } });
const items = new recommender.ItemDataset("items", { numShards: 1 });
const events = new recommender.EventDataset("events", { numShards: ${eventShards}, name: "${eventsName}" });
const project = new recommender.Project("shop", {
  userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "purchase",
});
const algorithm = new recommender.Algorithm("g1", { projectId: project.id, algorithmParameters: ${JSON.stringify({ dimensions: 8, ...fixed })} });
export const ids = { users: users.id, items: items.id, events: events.id, project: project.projectId };
${trained ? "" : "//"}const model = new recommender.Model("weekly", { projectId: project.id, algorithmId: algorithm.id, name: "${modelName}", triggers: ["${trigger}"] });
${trained ? "" : "//"}const live = new recommender.Deployment("live", { projectId: project.id, generatorModelId: model.modelId, qps: ${qps}, check: { userIds: ["u1"] } });
${trained ? "" : "//"}export const served = { modelId: model.modelId, servingUri: live.servingUri, quality: model.quality };
`;
}

interface Ids {
  readonly users: string;
  readonly items: string;
  readonly events: string;
  readonly project: string;
}

describe("a recommender through the real engine", () => {
  let observed: ObservedService;
  let workspace: EngineWorkspace;
  let ids: Ids;
  let modelId: string;

  beforeAll(async () => {
    observed = await ObservedService.start();
    workspace = await engineWorkspace(program({ trained: false }), observed.environment);
  });
  afterAll(async () => {
    await workspace.dispose();
    await observed.close();
  });

  const up = async (declared?: Declared) => {
    if (declared) await workspace.setProgram(program(declared));
    observed.calls();
    const said: string[] = [];
    const onEvent = (event: EngineEvent) => said.push(...wordsOf(event));
    const { outputs, summary } = await workspace.stack.up({ onEvent });
    return { outputs, changes: summary.resourceChanges, calls: observed.calls(), said };
  };
  const recommend = () => observed.call(routes.recommendItemsToUser, { userId: "u1", limit: 3 });

  test("is created with one call per object, after one call that checks for idempotency keys", async () => {
    const { outputs, calls } = await up();
    ids = outputOf<Ids>(outputs, "ids");
    expect(calls.sort()).toEqual([
      "GET /list-event-datasets",
      "POST /create-algorithm",
      "POST /create-event-dataset",
      "POST /create-item-dataset",
      "POST /create-project",
      "POST /create-user-dataset",
    ]);
    expect(await observed.call(routes.getEventDataset, { eventDatasetId: ids.events })).toEqual({
      eventDatasetId: ids.events,
      name: "events",
      numShards: 2,
      attributeSchema: null,
    });
  });

  test("trains and deploys with one job each, and then recommends", async () => {
    await observed.load(ids);
    const { outputs, calls } = await up({});
    const served = outputOf<{ modelId: string; quality: { ndcgAt20: number } }>(outputs, "served");
    modelId = served.modelId;
    expect(submissions(calls)).toEqual(["POST /submit-training-job", "POST /submit-deployment-job"]);
    expect(served.quality.ndcgAt20).toBeGreaterThan(0);
    expect((await recommend()).results).toHaveLength(3);
  });

  test("makes no call if nothing changed", async () => {
    const { changes, calls } = await up();
    expect(changes).toEqual({ same: 10 });
    expect(calls).toEqual([]);
  });

  test("is renamed in place, with one call per name", async () => {
    const { changes, calls } = await up({ eventsName: "clicks", modelName: "renamed" });
    expect(changes).toMatchObject({ update: 2 });
    expect(calls.sort()).toEqual(["PUT /update-event-dataset", "PUT /update-model"]);
    expect(await observed.call(routes.getModel, { projectId: ids.project, modelId })).toMatchObject({
      name: "renamed",
    });
  });

  test("deploys again in place if qps changes", async () => {
    const { calls } = await up({ eventsName: "clicks", modelName: "renamed", qps: 60 });
    expect(submissions(calls)).toEqual(["POST /submit-deployment-job"]);
    expect(calls).not.toContain("DELETE /shutdown-deployment");
  });

  test("trains again if a trigger changes, updates the deployment, and deletes the old model last", async () => {
    const { outputs, calls, said } = await up({ trigger: "w2", qps: 60 });
    const served = outputOf<{ modelId: string }>(outputs, "served");
    expect(served.modelId).not.toBe(modelId);
    expect(calls.filter((call) => !call.startsWith("GET") && !call.startsWith("PUT"))).toEqual([
      "POST /submit-training-job",
      "POST /submit-deployment-job",
      `POST /serving/${ids.project}/recommend-items-to-user`,
      "DELETE /delete-model",
    ]);
    expect(said.join("\n")).toMatch(/this trains again, because of triggers\[0\] \(changed\)/);
    const { models } = await observed.call(routes.listModels, { projectId: ids.project });
    expect(models.map((model) => model.modelId)).toEqual([served.modelId]);
    modelId = served.modelId;
  });

  test("detects a dataset and a model that were renamed outside, and restores the names", async () => {
    await observed.call(routes.updateEventDataset, {
      eventDatasetId: ids.events,
      name: "drifted",
      attributeSchema: null,
    });
    await observed.call(routes.updateModel, { projectId: ids.project, modelId, name: "drifted too" });
    const { summary } = await workspace.stack.refresh();
    expect(summary.resourceChanges).toMatchObject({ update: 2 });
    const { changes } = await up();
    expect(changes).toMatchObject({ update: 2 });
    expect(await observed.call(routes.getEventDataset, { eventDatasetId: ids.events })).toMatchObject({
      name: "events",
    });
  });

  test("detects a deployment that was shut down and a deleted model, and creates them again", async () => {
    await observed.call(routes.shutdownDeployment, { projectId: ids.project });
    await observed.call(routes.deleteModel, { projectId: ids.project, modelId });
    const { summary } = await workspace.stack.refresh();
    expect(summary.resourceChanges).toMatchObject({ delete: 2 });
    const { outputs, calls } = await up();
    expect(submissions(calls)).toEqual(["POST /submit-training-job", "POST /submit-deployment-job"]);
    expect(outputOf<{ modelId: string }>(outputs, "served").modelId).not.toBe(modelId);
    expect((await recommend()).results).toHaveLength(3);
    expect((await up()).calls).toEqual([]);
  });

  test("warns before it replaces an event dataset, and replaces it create-first", async () => {
    const { calls, said, outputs } = await up({ trained: false, eventShards: 3 });
    expect(said.join("\n")).toMatch(
      /Replacing EventDataset events deletes its events, unless retainOnDelete is set: numShards 2 → 3\./,
    );
    const { events, project } = outputOf<Ids>(outputs, "ids");
    expect(events).not.toBe(ids.events);
    expect(project).not.toBe(ids.project);
    const order = calls.filter((call) => call.endsWith("e-event-dataset"));
    expect(order).toEqual(["POST /create-event-dataset", "DELETE /delete-event-dataset"]);
  });

  test("is destroyed except for objects that the API cannot delete, which are listed", async () => {
    observed.calls();
    const said: string[] = [];
    await workspace.stack.destroy({ onEvent: (event) => said.push(...wordsOf(event)) });
    const marks = Array(4).fill("PUT /mark-orphaned");
    const calls = observed.calls().filter((call) => !call.startsWith("GET"));
    expect(calls.sort()).toEqual(["DELETE /delete-event-dataset", ...marks]);
    // The earlier replacement has orphaned a project and its algorithm.
    expect((await observed.call(routes.listOrphans, {})).orphans).toHaveLength(6);
    const left = said.filter((text) => text.includes("is orphaned")).map((text) => text.split(" ")[0]);
    expect(left.sort()).toEqual(["Algorithm", "ItemDataset", "Project", "UserDataset"]);
    expect((await observed.call(routes.listEventDatasets, {})).eventDatasets).toEqual([]);
  });
});

function submissions(calls: string[]): string[] {
  return calls.filter((call) => call.includes("/submit-"));
}

function outputOf<T>(outputs: OutputMap, key: string): T {
  return outputs[key]?.value as T;
}

function wordsOf({ diagnosticEvent }: EngineEvent): string[] {
  return diagnosticEvent
    ? [diagnosticEvent.message.replace(/<\{%.*?%\}>/g, "").replace(/^warning: /, "")]
    : [];
}
