import { routes } from "../../contract";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

const head = `
import * as pulumi from "@pulumi/pulumi";
import * as recommender from "pulumi-recommender";
`;

/** Component of a team with a complete recommender. */
const component = (modelArgs: string, names = { events: "events", model: "weekly" }) => `${head}
class Recommender extends pulumi.ComponentResource {
  readonly ids: pulumi.Output<Record<string, string>>;
  constructor(name: string, options?: pulumi.ComponentResourceOptions) {
    super("team:index:Recommender", name, {}, options);
    const parent = { parent: this };
    const users = new recommender.UserDataset("users", { numShards: 1 }, parent);
    const items = new recommender.ItemDataset("items", { numShards: 1 }, parent);
    const events = new recommender.EventDataset("events", { numShards: 1, name: "${names.events}" }, parent);
    const project = new recommender.Project("shop", {
      userDatasetId: users.userDatasetId, itemDatasetId: items.itemDatasetId, eventDatasetId: events.eventDatasetId,
      targetEventType: "purchase",
    }, parent);
    const algorithm = new recommender.Algorithm("g1", {
      projectId: project.projectId, algorithmParameters: { dimensions: 4 },
    }, parent);
    this.ids = pulumi.output({ users: users.id, items: items.id, events: events.id, project: project.id });
    ${
      modelArgs &&
      `const model = new recommender.Model("weekly", { projectId: project.id, name: "${names.model}", ${modelArgs} }, parent);
    new recommender.Deployment("live", { projectId: project.id, generatorModelId: model.modelId, qps: 9 }, parent);
    this.ids = pulumi.all([this.ids, model.modelId]).apply(([ids, model]) => ({ ...ids, model }));`
    }
  }
}
export const ids = new Recommender("shop").ids;
`;

const trained = "algorithmId: algorithm.id";

describe("a component with a complete recommender", () => {
  let observed: ObservedService;
  let workspace: EngineWorkspace;
  let ids: Record<string, string>;
  beforeAll(async () => {
    observed = await ObservedService.start();
    workspace = await engineWorkspace(component(""), observed.environment);
  });
  afterAll(async () => {
    await workspace.dispose();
    await observed.close();
  });
  test("is created, and sibling resources do not wait for each other", async () => {
    ids = (await workspace.stack.up()).outputs.ids?.value;
    await observed.load(ids as { users: string; items: string; events: string });
    await workspace.setProgram(component(trained));
    ids = (await workspace.stack.up()).outputs.ids?.value;
    expect(ids.model).toMatch(/^model-/);
  });

  test("has a preview with exactly the changes of the update if names change", async () => {
    await workspace.setProgram(component(trained, { events: "clicks", model: "monthly" }));
    const preview = await workspace.stack.preview();
    expect(preview.changeSummary).toMatchObject({ update: 2 });
    expect(preview.changeSummary.replace).toBeUndefined();
    const { summary } = await workspace.stack.up();
    expect(summary.resourceChanges).toMatchObject({ update: 2 });
  });

  test("can look up models, jobs and recommendations, with outputs and with values", async () => {
    const names = { events: "clicks", model: "monthly" };
    await workspace.setProgram(`${component(trained, names)}
const at = ids.apply(({ project, model }) => ({ projectId: project, modelId: model }));
export const model = recommender.getModelOutput({ projectId: at.projectId, modelId: at.modelId });
export const models = recommender.listModelsOutput({ projectId: at.projectId });
export const items = recommender.recommendOutput({ userId: "u1", limit: 2 }).results;
export const direct = recommender.recommend({ userId: "u1", limit: 2 }).then(({ results }) => results);
`);
    const { outputs } = await workspace.stack.up();
    expect(outputs.model?.value).toMatchObject({ modelId: ids.model, name: "monthly" });
    expect(outputs.models?.value.models).toHaveLength(1);
    expect(outputs.items?.value).toHaveLength(2);
    expect(outputs.direct?.value).toEqual(outputs.items?.value);
  });

  test("keeps its model and its deployment if both are renamed with aliases", async () => {
    const renamed = component(trained, { events: "clicks", model: "monthly" })
      .replace('Model("weekly"', 'Model("newer"')
      .replace('Deployment("live"', 'Deployment("serving"')
      .replace(`${trained} }, parent)`, `${trained} }, { ...parent, aliases: [{ name: "weekly" }] })`)
      .replace("qps: 9 }, parent)", 'qps: 9 }, { ...parent, aliases: [{ name: "live" }] })');
    await workspace.setProgram(renamed);
    observed.calls();
    const { summary } = await workspace.stack.up();
    expect(Object.keys(summary.resourceChanges ?? {})).toEqual(["same"]);
    expect(observed.calls()).toEqual([]);
    await workspace.setProgram(component(trained, { events: "clicks", model: "monthly" }));
    await workspace.setProgram(
      component(trained, { events: "clicks", model: "monthly" })
        .replace(`${trained} }, parent)`, `${trained} }, { ...parent, aliases: [{ name: "newer" }] })`)
        .replace("qps: 9 }, parent)", 'qps: 9 }, { ...parent, aliases: [{ name: "serving" }] })'),
    );
    await workspace.stack.up();
  });

  test("keeps a model whose existingId is its own id", async () => {
    await workspace.setProgram(
      component(`existingId: "${ids.model}"`, { events: "clicks", model: "monthly" }),
    );
    observed.calls();
    await workspace.stack.up();
    expect(observed.calls().filter((call) => !call.startsWith("GET"))).toEqual([]);
    await observed.call(routes.getModel, { projectId: ids.project, modelId: ids.model });
  });

  test("is not read from another service, where it would seem deleted", async () => {
    const other = await ObservedService.start();
    const here = { ...workspace.stack.workspace.envVars };
    Object.assign(workspace.stack.workspace.envVars, other.environment);
    for (const run of [
      () => workspace.stack.refresh(),
      () => workspace.stack.destroy(),
      () => workspace.stack.up(),
    ]) {
      await expect(run()).rejects.toThrow(
        /This resource belongs to the service at \S+, but \S+ is configured/,
      );
    }
    expect(other.calls()).toEqual([]);
    await other.close();
    Object.assign(workspace.stack.workspace.envVars, here);
  });

  test("stays live if its deployment is replaced by the user", async () => {
    const { deployment } = await workspace.stack.exportStack();
    const [{ urn }] = deployment.resources.filter(({ type }: { type: string }) =>
      type.endsWith(":Deployment"),
    );
    await workspace.stack.up({ replace: [urn] });
    expect(
      (await observed.call(routes.recommendItemsToUser, { userId: "u1" })).results.length,
    ).toBeGreaterThan(0);
    await workspace.stack.destroy();
    expect((await observed.call(routes.listModels, { projectId: ids.project })).models).toEqual([]);
  });
});

test("the engine shows only lines of the program for a component", async () => {
  const observed = await ObservedService.start();
  const workspace = await engineWorkspace(component(""), observed.environment, "typescript");
  await observed.load((await workspace.stack.up()).outputs.ids?.value);
  await workspace.setProgram(component(trained));
  await workspace.stack.up();
  const { deployment } = await workspace.stack.exportStack();
  const lines = component(trained).split("\n");
  type Kept = { type: string; sourcePosition?: string; stackTrace: { sourcePosition?: string }[] };
  const ours = (deployment.resources as Kept[]).filter(({ type }) => type.includes("recommender:"));
  expect(ours.length).toBeGreaterThanOrEqual(9);
  for (const { type, sourcePosition = "", stackTrace } of ours) {
    expect(stackTrace).toEqual([
      { sourcePosition },
      { sourcePosition: expect.stringContaining("index.ts#") },
    ]);
    const [, line] = /^project:\/\/\/index\.ts#(\d+),\d+$/.exec(sourcePosition) ?? [];
    // A job has the source position of its model or deployment.
    const declared = (type.split(":").at(-1) as string).replace("Training", "").replace("Job", "");
    expect(lines[Number(line) - 1]).toMatch(declared || "Model");
  }
  await workspace.dispose();
  await observed.close();
});
