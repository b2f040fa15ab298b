import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Deployment } from "@pulumi/pulumi/automation";
import Database from "libsql";
import { allEntries, type JournalEntry, write } from "../../provider/recovery/journal";
import { systemClock } from "../../service";
import { ObservedService } from "./observed-service";
import { OtherService } from "./other-service";
import { engineWorkspace, installPlugin } from "./workspace";

/** Program of the recorded state. */
const recordedProgram = `
import * as recommender from "pulumi-recommender";
const users = new recommender.UserDataset("users", { numShards: 1 });
const items = new recommender.ItemDataset("items", { numShards: 1 });
const events = new recommender.EventDataset("events", { numShards: 1 });
const project = new recommender.Project("shop", {
  userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "purchase",
});
const algorithm = new recommender.Algorithm("g1", { projectId: project.id });
const model = new recommender.Model("weekly", { projectId: project.id, algorithmId: algorithm.id, triggers: ["a"] });
const live = new recommender.Deployment("live", {
  projectId: project.id, generatorModelId: model.modelId, qps: 3, check: { userIds: ["u"] },
});
`;

interface Recorded {
  readonly type: string;
  readonly id: string;
  readonly outputs?: Record<string, unknown>;
}

/** Starts a service with the objects of a recorded state. */
function serviceOf(resources: Recorded[]): OtherService {
  const service = new OtherService();
  for (const { type, id, outputs = {} } of resources) {
    const { name, numShards, attributeSchema, projectId, generatorModelId, qps } = outputs;
    const fields = { name, num_shards: numShards, attribute_schema: attributeSchema };
    if (type.endsWith(":EventDataset")) service.eventDatasets.set(id, { user_dataset_id: id, ...fields });
    if (type.endsWith(":Model")) service.models.set(id, { project_id: projectId, model_id: id, name });
    if (type.endsWith(":Deployment")) service.deployed = { generator_model_id: generatorModelId, qps };
  }
  return service;
}

test.each(["state-v1.json"])(
  "a state recorded as %s is readable: no changes, switched to the plugin and back, refreshed and destroyed",
  async (file) => {
    const recorded: Deployment = JSON.parse(readFileSync(join(__dirname, file), "utf8"));
    const service = serviceOf(recorded.deployment.resources);
    // The state was recorded under this passphrase.
    const passphrase = { PULUMI_CONFIG_PASSPHRASE: "test" };
    const workspace = await engineWorkspace(recordedProgram, { ...passphrase, ...(await service.start()) });
    await workspace.stack.importStack(recorded);
    const { changeSummary } = await workspace.stack.preview();
    expect(changeSummary).toEqual({ same: 10 });
    await installPlugin(workspace.directory);
    for (const [value, prefix] of [
      ["plugin", "recommender:index:"],
      ["dynamic", "pulumi-nodejs:dynamic/recommender:"],
    ] as const) {
      await workspace.stack.setConfig("recommender:binding", { value });
      const moved = await workspace.stack.up({ expectNoChanges: true });
      expect(moved.summary.resourceChanges).toEqual({ same: 10 });
      const { resources } = (await workspace.stack.exportStack()).deployment;
      expect(resources.filter(({ type }: Recorded) => type.startsWith(prefix))).toHaveLength(9);
    }
    expect(service.calls).toEqual([]);
    const { summary } = await workspace.stack.refresh();
    expect(summary.resourceChanges).toEqual({ same: 10 });
    await workspace.stack.destroy();
    expect([service.eventDatasets.size, service.models.size, service.deployed]).toEqual([0, 0, undefined]);
    await workspace.dispose();
    await service.stop();
  },
);

/** Program with every kind of create, from the run that left the recorded journal and data directory. */
const journaledProgram = `${recordedProgram.replace(
  "{ projectId: project.id }",
  "{ projectId: project.id, algorithmParameters: { alpha: 0.1, dimensions: 4, epochs: 1, regularization: 0.1 } }",
)}
const asked = { projectId: project.id, modelId: model.modelId };
new recommender.UserQuery("jazz", {
  ...asked, queryType: "user_distribution", queries: [{ attribute: "genre", value: "jazz", bins: 2 }],
});
new recommender.UserClustering("groups", { ...asked, parameters: { minUserNum: 1 } });
export const modelId = model.modelId;
`;

/** Starts a service with the data directory that version 0.1.0 recorded, at the time of the recording. */
async function serviceOfRecordedDirectory(dataDir: string, recordedAt: number): Promise<ObservedService> {
  cpSync(join(__dirname, "data-v1"), dataDir, { recursive: true });
  const database = new Database(join(dataDir, "data.db"));
  database.exec(readFileSync(join(dataDir, "data.sql"), "utf8"));
  database.close();
  rmSync(join(dataDir, "data.sql"));
  const age = systemClock.now() - recordedAt;
  return ObservedService.start({ dataDir, clock: { ...systemClock, now: () => systemClock.now() - age } });
}

test.each([
  [
    "names the object if the id is in the journal",
    (entry: JournalEntry) => ({ ...entry, at: new Date().toISOString() }),
  ],
  [
    "asks if the response was lost",
    ({ id: _, reply: __, ...asked }: JournalEntry) => ({ ...asked, at: new Date().toISOString() }),
  ],
])("after a killed run of 0.1.0, the next run %s, and creates nothing twice", async (what, leave) => {
  const journal: JournalEntry[] = JSON.parse(readFileSync(join(__dirname, "journal-v1.json"), "utf8"));
  const directory = mkdtempSync(join(tmpdir(), "recorded-"));
  const service = await serviceOfRecordedDirectory(
    join(directory, "data"),
    Date.parse(journal.at(-1)?.at ?? ""),
  );
  const XDG_STATE_HOME = join(directory, "xdg");
  const workspace = await engineWorkspace(journaledProgram, { ...service.environment, XDG_STATE_HOME });
  const own = { ...process.env };
  Object.assign(process.env, workspace.stack.workspace.envVars);
  try {
    for (const entry of journal) await write({ ...leave(entry), service: service.service.url });
    const error = await workspace.stack.up().then(() => "", String);
    for (const name of ["users", "items", "events"])
      expect(error).toContain(`RECOMMENDER_CREATE_AGAIN=${name}`);
    if (what.startsWith("names")) {
      for (const [, name, id] of error.matchAll(/RECOMMENDER_ADOPT=(\w+)=([\w-]+)/g))
        expect(journal).toContainEqual(
          expect.objectContaining({ id, urn: expect.stringMatching(`::${name}$`) }),
        );
    }
    const creating = service.calls().filter((call) => /^POST \/(create|submit)-/.test(call));
    expect(creating).toEqual([]);
    expect(allEntries()).toHaveLength(journal.length);
  } finally {
    process.env = own;
    await workspace.dispose();
    await service.close();
    rmSync(directory, { recursive: true });
  }
});
