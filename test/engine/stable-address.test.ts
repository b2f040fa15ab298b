import { recommendItems } from "../../client/serving";
import { routes } from "../../contract";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

const program = (target: string) => `
  import * as recommender from "pulumi-recommender";
  const users = new recommender.UserDataset("users", { numShards: 1 });
  const items = new recommender.ItemDataset("items", { numShards: 1 });
  const events = new recommender.EventDataset("events", { numShards: 1 });
  const history = new recommender.EventRecords("history", {
    eventDatasetId: events.id,
    source: Array.from({ length: 240 }, (_, at) => ({
      userId: "u" + (at % 30), itemId: "i" + ((at * 7) % 24), ts: 1700000000000 + at,
      eventType: at % 3 ? "purchase" : "view",
    })),
  });
  const project = new recommender.Project("shop", {
    userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "${target}",
  });
  const algorithm = new recommender.Algorithm("g1", {
    projectId: project.id, algorithmParameters: { dimensions: 4, epochs: 1, regularization: 0.1, alpha: 1 },
  }, { dependsOn: history });
  const model = new recommender.Model("weekly", { projectId: project.id, algorithmId: algorithm.id });
  const live = new recommender.Deployment("live", {
    projectId: project.id, generatorModelId: model.modelId, qps: 50,
  });
  export const projectId = project.id;
  export const servingUri = live.servingUri;
  export const stableServingUri = live.stableServingUri;
`;

let observed: ObservedService;
let workspace: EngineWorkspace;

beforeAll(async () => {
  observed = await ObservedService.start();
  workspace = await engineWorkspace("", observed.environment);
});
afterAll(async () => {
  await workspace.dispose();
  await observed.close();
});

const up = async (target: string): Promise<Record<string, string>> => {
  await workspace.setProgram(program(target));
  const { outputs } = await workspace.stack.up();
  return Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]));
};
const recommended = async (address = "") =>
  (await recommendItems(observed.client, { userId: "u1", limit: 3 }, address)).results.length;

test("the stable address of a deployment still works after its project was replaced", async () => {
  const before = await up("purchase");
  const stable = before.stableServingUri;
  expect(stable).toBe(`${observed.service.url}/serving/stack/test/test/live`);
  expect(await recommended(stable)).toBe(3);

  const after = await up("view");
  expect(after.projectId).not.toBe(before.projectId);
  expect(after.servingUri).not.toBe(before.servingUri);
  expect(after.stableServingUri).toBe(stable);
  expect(await recommended(stable)).toBe(3);
  const { projectId = "" } = before;
  await expect(observed.call(routes.getDeployment, { projectId })).rejects.toThrow("NOT_DEPLOYED");
  const { summary } = await workspace.stack.refresh();
  expect(summary.resourceChanges).toEqual({ same: expect.any(Number) });
});
