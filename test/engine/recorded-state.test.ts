import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Deployment } from "@pulumi/pulumi/automation";
import { OtherService } from "./other-service";
import { engineWorkspace } from "./workspace";

/** The program whose state was recorded. */
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

/** A service that holds what a recorded state says. */
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
  "a state recorded as %s is understood: nothing to change, refreshed, destroyed",
  async (file) => {
    const recorded: Deployment = JSON.parse(readFileSync(join(__dirname, file), "utf8"));
    const service = serviceOf(recorded.deployment.resources);
    const workspace = await engineWorkspace(recordedProgram, await service.start());
    await workspace.stack.importStack(recorded);
    const { changeSummary } = await workspace.stack.preview();
    expect(changeSummary).toEqual({ same: 10 });
    expect(service.calls).toEqual([]);
    const { summary } = await workspace.stack.refresh();
    expect(summary.resourceChanges).toEqual({ same: 10 });
    await workspace.stack.destroy();
    expect([service.eventDatasets.size, service.models.size, service.deployed]).toEqual([0, 0, undefined]);
    await workspace.dispose();
    await service.stop();
  },
);
