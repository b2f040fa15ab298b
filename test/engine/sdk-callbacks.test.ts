import { routes } from "../../contract";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

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

/** Program with a model and a deployment, which consist of two resources each. */
const shop = `
const users = new recommender.UserDataset("users", { numShards: 1 });
const items = new recommender.ItemDataset("items", { numShards: 1 });
const events = new recommender.EventDataset("events", { numShards: 1 });
const loaded = new recommender.EventRecords("events", {
  eventDatasetId: events.id,
  numShards: 1,
  source: Array.from({ length: 30 }, (_, at) => ({
    eventId: "e" + at, userId: "u" + (at % 6), itemId: "i" + ((at * 5) % 7), ts: 1700000000000 + at, eventType: "buy",
  })),
});
const project = new recommender.Project("shop", {
  userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "buy",
});
const algorithm = new recommender.Algorithm("g1", {
  projectId: project.id,
  algorithmParameters: { dimensions: 4, epochs: 1, regularization: 0.1, alpha: 0.1 },
});
`;

test("transforms of the SDK are applied to every resource, also to the job of a model", async () => {
  await workspace.setProgram(`
    import * as pulumi from "@pulumi/pulumi";
    import * as recommender from "pulumi-recommender";
    pulumi.runtime.registerResourceTransform(({ type, name, props, opts }) =>
      type.includes("recommender:EventDataset") ? { props: { ...props, name: "transformed-" + name }, opts } : undefined);
    pulumi.runtime.registerResourceTransform(({ type, props, opts }) =>
      type.endsWith(":Model") ? { props, opts: { ...opts, retainOnDelete: true } } : undefined);
    ${shop}
    new recommender.Model("weekly", { projectId: project.id, algorithmId: algorithm.id }, {
      dependsOn: loaded,
      transforms: [({ props, opts }) => ({ props: { ...props, name: "transformed" }, opts })],
    });
  `);
  await workspace.stack.up();
  const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
  expect(eventDatasets).toMatchObject([{ name: "transformed-events" }]);
  const { deployment } = await workspace.stack.exportStack();
  const resources = deployment.resources as {
    type: string;
    outputs?: { name?: string };
    retainOnDelete?: true;
  }[];
  const found = resources.flatMap(({ type, outputs, retainOnDelete }) =>
    /:(TrainingJob|Model)$/.test(type)
      ? [{ type: type.split(":").at(-1), name: outputs?.name, retainOnDelete }]
      : [],
  );
  expect(found).toEqual([
    { type: "TrainingJob", name: "transformed", retainOnDelete: undefined },
    { type: "Model", name: "transformed", retainOnDelete: true },
  ]);
});

test("hooks run once, for the declared resource and not for its job", async () => {
  await workspace.setProgram(`
    import * as pulumi from "@pulumi/pulumi";
    import * as recommender from "pulumi-recommender";
    const seen = (when: string) => new pulumi.ResourceHook(when, async ({ urn }) => {
      pulumi.log.info("hook " + when + " " + urn.split("::").slice(2).join(" ").split(":").at(-1));
    });
    ${shop}
    const model = new recommender.Model("weekly", { projectId: project.id, algorithmId: algorithm.id, triggers: ["again"] }, {
      dependsOn: loaded,
    });
    new recommender.Deployment("live", { projectId: project.id, generatorModelId: model.modelId }, {
      hooks: { beforeCreate: [seen("before")], afterCreate: [seen("after")] },
    });
  `);
  const { stdout } = await workspace.stack.up();
  const hooks = stdout.split("\n").flatMap((line) => /hook \w+ .*$/.exec(line)?.[0].trim() ?? []);
  expect([...new Set(hooks)].sort()).toEqual(["hook after Deployment live", "hook before Deployment live"]);
});
