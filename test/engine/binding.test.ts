import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { routes } from "../../contract";
import { ObservedService, withoutUploadChecks } from "./observed-service";
import { type EngineWorkspace, engineWorkspace, installPlugin } from "./workspace";

const imports = `
import * as pulumi from "@pulumi/pulumi";
import * as recommender from "pulumi-recommender";
`;

/**
 * Parents, components, siblings and aliases, which determine the name of a resource in the state. Each generation of
 * the program renames or moves some resources and declares an alias for each.
 */
const program = (generation: number, more = "") => `${imports}
const generation = ${generation};
const before = generation - 1;
const aliased = (alias) => (generation > 0 ? { aliases: [alias] } : {});
const types = { dynamic: "pulumi-nodejs:dynamic/recommender:", plugin: "recommender:index:" };
const here = new pulumi.Config("recommender").get("binding") ?? "dynamic";
const there = here === "plugin" ? "dynamic" : "plugin";
const urnBefore = (binding, type, name) => ["urn:pulumi:test::test", types[binding] + type, name + before].join("::");
class Shelf extends pulumi.ComponentResource {
  constructor(name) {
    super("shop:Shelf", name);
    this.items = new recommender.ItemDataset("items" + generation, { name: "goods", numShards: 1 },
      { parent: this, ...aliased({ name: "items" + before }) });
  }
}
const shelf = new Shelf("shelf");
const users = new recommender.UserDataset("users", { numShards: 1 });
const [parent, parentBefore] = generation % 2 ? [shelf, users] : [users, shelf];
const events = new recommender.EventDataset("events", { numShards: 1 },
  { parent, ...aliased({ parent: parentBefore }) });
const records = new recommender.UserRecords("people",
  { userDatasetId: users.id, source: [{ userId: "ada", attributes: { age: 36 } }] }, { parent: events });
const project = new recommender.Project("shop" + generation, {
  userDatasetId: users.id, itemDatasetId: shelf.items.id, eventDatasetId: events.id, targetEventType: "buy" },
  aliased(urnBefore(here, "Project", "shop")));
const projectId = project.id;
const bought = new recommender.EventRecords("bought", { eventDatasetId: events.id, source: Array.from({ length: 12 },
  (_, at) => ({ eventId: "e" + at, userId: "u" + at % 3, itemId: "i" + at % 4, ts: 1700000000000 + at, eventType: "buy" })) });
const { id: algorithmId } = new recommender.Algorithm("g1", { projectId,
  algorithmParameters: { dimensions: 4, epochs: 1, regularization: 0.1, alpha: 0.1 } });
const { modelId } = new recommender.Model("weekly" + generation, { projectId, algorithmId, triggers: [bought.contentHash] },
  aliased(urnBefore(there, "Model", "weekly")));
new recommender.TrainingJob("nightly", { projectId, algorithmId });
const live = new recommender.Deployment("live" + generation, { projectId, generatorModelId: modelId, qps: 5 },
  aliased({ name: "live" + before, type: types[there] + "Deployment" }));
new recommender.DeploymentJob("again", { projectId, generatorModelId: modelId, qps: 5 }, { dependsOn: live });
const query = { projectId, modelId, queryType: "user_distribution", queries: [{ attribute: "age", value: 36, bins: 2 }] };
const [place, placeBefore] = generation % 2 ? [project, shelf] : [shelf, project];
new recommender.UserQuery("ages", query, { parent: place, ...aliased({ parent: placeBefore }) });
new recommender.QueryingJob("ages-again", query);
const groups = new recommender.UserClustering("groups", { projectId, modelId, parameters: { minUserNum: 1 } },
  generation > 0 ? { parent: users, ...aliased({ parent: pulumi.rootStackResource }) } : {});
new recommender.ClusteringJob("groups-again", { projectId, modelId, parameters: { minUserNum: 1 } });
export const hash = records.contentHash;
${more}`;

/** Resources of the program, and the stack itself. */
const declared = 21;

let observed: ObservedService;
let workspace: EngineWorkspace;

beforeAll(async () => {
  observed = await ObservedService.start();
  workspace = await engineWorkspace(program(0), observed.environment);
  await installPlugin(workspace.directory);
});
afterAll(async () => {
  await workspace.dispose();
  await observed.close();
});

const setBinding = (value: string) => workspace.stack.setConfig("recommender:binding", { value });

async function up() {
  observed.calls();
  const { summary, outputs } = await workspace.stack.up();
  const { hash, found, job } = outputs;
  return {
    changes: summary.resourceChanges,
    hash: hash?.value,
    found: found?.value,
    isJobSecret: job?.secret,
    calls: withoutUploadChecks(observed.calls()),
  };
}

async function types(): Promise<string[]> {
  const { deployment } = await workspace.stack.exportStack();
  const rows = (deployment as { resources: { type: string }[] }).resources.map(({ type }) => type);
  return [
    ...new Set(rows.filter((type) => /recommender:/.test(type)).map((type) => type.replace(/\w+$/, ""))),
  ];
}

const unchanged = { changes: { same: declared }, calls: [] };

test("a stack with parents, components, aliases and jobs switches to the plugin and back without changes", async () => {
  const { changes, hash } = await up();
  expect(changes).toEqual({ create: declared });
  expect(await types()).toEqual(["pulumi-nodejs:dynamic/recommender:"]);
  await workspace.setProgram(program(1));
  await setBinding("plugin");
  expect(await up()).toEqual({ ...unchanged, hash });
  expect(await types()).toEqual(["recommender:index:"]);
  await workspace.stack.refresh();
  expect(await up()).toEqual({ ...unchanged, hash });
  await setBinding("dynamic");
  await workspace.setProgram(program(2));
  expect(await up()).toEqual({ ...unchanged, hash });
  expect(await types()).toEqual(["pulumi-nodejs:dynamic/recommender:"]);
  await workspace.stack.refresh();
  expect(await up()).toEqual({ ...unchanged, hash });
});

test("an option that dynamic resources do not support names the plugin, which supports it", async () => {
  const { eventDatasetId } = await observed.call(routes.createEventDataset, { name: "there", numShards: 3 });
  const other = await ObservedService.start();
  const { baseUrl, apiKey, tokenUrl, clientId, clientSecret } = Object.fromEntries(
    Object.entries(other.config).map(([key, value]) => [key.split(":")[1], value]),
  ) as Record<string, string>;
  const imported = `new recommender.EventDataset("there", { name: "there", numShards: 3 },
    { import: "${eventDatasetId}", customTimeouts: { create: "1h" } });`;
  const elsewhere = `const other = new recommender.Provider("other",
      ${JSON.stringify({ baseUrl, apiKey, tokenUrl, clientId, clientSecret })});
    const theirs = new recommender.EventDataset("elsewhere", { numShards: 1 }, { provider: other });
    export const found = recommender.getEventDatasetOutput({ eventDatasetId: theirs.id }, { provider: other }).name;
    export const job = recommender.getJobOutput({ projectId, jobId: groups.jobId });`;
  const remedy = /recommender plugin install.*pulumi config set recommender:binding plugin/;
  try {
    for (const more of [imported, elsewhere]) {
      await workspace.setProgram(program(2, more));
      await expect(workspace.stack.preview()).rejects.toThrow(remedy);
    }
    await setBinding("plugin");
    await workspace.setProgram(program(2, imported + elsewhere));
    const { changes, found, isJobSecret } = await up();
    expect(changes).toEqual({ same: declared, create: 2, import: 1 });
    expect({ found, isJobSecret }).toEqual({ found: "elsewhere", isJobSecret: true });
    expect((await other.call(routes.listEventDatasets, {})).eventDatasets).toHaveLength(1);
    const stored = join(workspace.directory, "state/.pulumi/stacks/test/test.json");
    expect(await readFile(stored, "utf8")).not.toContain(other.service.key);
    await setBinding("dynamic");
    await workspace.setProgram(program(2, imported.replace(/\{ import.*\}/, "{}")));
    expect((await up()).changes).toEqual({ same: declared + 1, delete: 2 });
    expect((await other.call(routes.listEventDatasets, {})).eventDatasets).toEqual([]);
    await workspace.stack.refresh();
    await workspace.stack.destroy();
    expect((await observed.call(routes.listEventDatasets, {})).eventDatasets).toEqual([]);
  } finally {
    await other.close();
  }
});

test("a preview rejects an unknown binding", async () => {
  await workspace.setProgram(program(2));
  await setBinding("pigeon");
  await expect(workspace.stack.preview()).rejects.toThrow(
    /recommender:binding is "pigeon". Expected "dynamic" or "plugin"/,
  );
});
