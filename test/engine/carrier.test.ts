import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { routes } from "../../contract";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace, installPlugin } from "./workspace";

const imports = `
import * as pulumi from "@pulumi/pulumi";
import * as recommender from "pulumi-recommender";
`;

/** Parents, components, renamings and a sibling: whatever decides on the name of a resource in the state. */
const program = (items: string, more = "") => `${imports}
class Shelf extends pulumi.ComponentResource {
  constructor(name, items) {
    super("shop:Shelf", name);
    this.items = new recommender.ItemDataset(items, { name: "goods", numShards: 1 },
      { parent: this, aliases: items === "before" ? [] : [{ name: "before" }] });
  }
}
const shelf = new Shelf("shelf", "${items}");
const users = new recommender.UserDataset("users", { numShards: 1 });
const events = new recommender.EventDataset("events", { numShards: 1 }, { parent: users });
const records = new recommender.UserRecords("people",
  { userDatasetId: users.id, source: [{ userId: "ada", attributes: { age: 36 } }] }, { parent: events });
const project = new recommender.Project("shop", {
  userDatasetId: users.id, itemDatasetId: shelf.items.id, eventDatasetId: events.id, targetEventType: "buy" });
const projectId = project.id;
const bought = new recommender.EventRecords("bought", { eventDatasetId: events.id, source: Array.from({ length: 12 },
  (_, at) => ({ eventId: "e" + at, userId: "u" + at % 3, itemId: "i" + at % 4, ts: 1700000000000 + at, eventType: "buy" })) });
const { id: algorithmId } = new recommender.Algorithm("g1", { projectId,
  algorithmParameters: { dimensions: 4, epochs: 1, regularization: 0.1, alpha: 0.1 } });
const { modelId } = new recommender.Model("weekly", { projectId, algorithmId, triggers: [bought.contentHash] });
new recommender.TrainingJob("nightly", { projectId, algorithmId });
const live = new recommender.Deployment("live", { projectId, generatorModelId: modelId, qps: 5 });
new recommender.DeploymentJob("again", { projectId, generatorModelId: modelId, qps: 5 }, { dependsOn: live });
const query = { projectId, modelId, queryType: "user_distribution", queries: [{ attribute: "age", value: 36, bins: 2 }] };
new recommender.UserQuery("ages", query);
new recommender.QueryingJob("ages-again", query);
const groups = new recommender.UserClustering("groups", { projectId, modelId, parameters: { minUserNum: 1 } });
new recommender.ClusteringJob("groups-again", { projectId, modelId, parameters: { minUserNum: 1 } });
export const hash = records.contentHash;
${more}`;

let observed: ObservedService;
let workspace: EngineWorkspace;

beforeAll(async () => {
  observed = await ObservedService.start();
  workspace = await engineWorkspace(program("before"), observed.environment);
  await installPlugin(workspace.directory);
});
afterAll(async () => {
  await workspace.dispose();
  await observed.close();
});

const carryBy = (value: string) => workspace.stack.setConfig("recommender:carrier", { value });

async function up() {
  observed.calls();
  const { summary, outputs } = await workspace.stack.up();
  const { hash, found, job } = outputs;
  return {
    changes: summary.resourceChanges,
    hash: hash?.value,
    found: found?.value,
    isJobSecret: job?.secret,
    calls: observed.calls(),
  };
}

async function types(): Promise<string[]> {
  const { deployment } = await workspace.stack.exportStack();
  const rows = (deployment as { resources: { type: string }[] }).resources.map(({ type }) => type);
  return [
    ...new Set(rows.filter((type) => /recommender:/.test(type)).map((type) => type.replace(/\w+$/, ""))),
  ];
}

const unchanged = { same: expect.any(Number) };

test("a stack moves to the plugin and back without a change: parents, components, aliases and jobs included", async () => {
  const { hash } = await up();
  expect(await types()).toEqual(["pulumi-nodejs:dynamic/recommender:"]);
  await workspace.setProgram(program("after"));
  await carryBy("plugin");
  expect(await up()).toMatchObject({ changes: unchanged, hash, calls: [] });
  expect(await types()).toEqual(["recommender:index:"]);
  await workspace.stack.refresh();
  expect(await up()).toMatchObject({ changes: unchanged, calls: [] });
  await carryBy("dynamic");
  await workspace.setProgram(program("after").replaceAll('"before"', '"never"'));
  expect(await up()).toMatchObject({ changes: unchanged, hash, calls: [] });
  expect(await types()).toEqual(["pulumi-nodejs:dynamic/recommender:"]);
  await workspace.stack.refresh();
  expect(await up()).toMatchObject({ changes: unchanged, calls: [] });
});

test("what dynamic resources cannot do names the plugin, which does it", async () => {
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
  const remedy = /recommender plugin install.*pulumi config set recommender:carrier plugin/;
  try {
    for (const more of [imported, elsewhere]) {
      await workspace.setProgram(program("after", more));
      await expect(workspace.stack.preview()).rejects.toThrow(remedy);
    }
    await carryBy("plugin");
    await workspace.setProgram(program("after", imported + elsewhere));
    expect(await up()).toMatchObject({ changes: { import: 1 }, found: "elsewhere", isJobSecret: true });
    expect((await other.call(routes.listEventDatasets, {})).eventDatasets).toHaveLength(1);
    const stored = join(workspace.directory, "state/.pulumi/stacks/test/test.json");
    expect(await readFile(stored, "utf8")).not.toContain(other.service.key);
    await carryBy("dynamic");
    await workspace.setProgram(program("after", imported.replace(/\{ import.*\}/, "{}")));
    expect((await up()).changes).toEqual({ same: expect.any(Number), delete: 2 });
    expect((await other.call(routes.listEventDatasets, {})).eventDatasets).toEqual([]);
    await workspace.stack.refresh();
    await workspace.stack.destroy();
    expect((await observed.call(routes.listEventDatasets, {})).eventDatasets).toEqual([]);
  } finally {
    await other.close();
  }
});

test("another carrier than the two is refused", async () => {
  await workspace.setProgram(program("after"));
  await carryBy("pigeon");
  await expect(workspace.stack.preview()).rejects.toThrow(/recommender:carrier: expected dynamic or plugin/);
});
