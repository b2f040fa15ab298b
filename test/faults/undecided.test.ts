import { bindingNames } from "./bindings";
import { gone, htmlPage, instead, noRoute, oldObject, otherObject } from "./faults";
import type { Fault, FaultProxy } from "./proxy";
import type { LocalStack } from "./runs";
import type { Scene, World } from "./scenes";
import { messageOf, Stage } from "./stage";

const always = { times: Number.POSITIVE_INFINITY };
let stage: Stage;
let proxy: FaultProxy;
let stack: LocalStack;
let world: World;
let all: readonly Scene[];

beforeAll(async () => {
  stage = await Stage.start();
  ({ proxy, stack, world, all } = stage);
});
afterAll(() => stage.close());
beforeEach(() => proxy.clear());

/** Configuration of objects that no call refers to. */
const others = {
  event_dataset_id: "other",
  model_id: "other",
  project_id: "other",
  name: "x",
  num_shards: 1,
};

/** What an error says about an object that may or may not exist. */
const named = /so it is unknown whether \w+_id \S+ exists/;

/** Plays a scene under a fault that stays, and once more without it. */
async function playTwice(scene: Scene, name: string, at: number, fault: Fault) {
  const binding = bindingNames[at % 2] as (typeof bindingNames)[number];
  const { call } = scene;
  proxy.clear();
  await stack.begin(binding);
  const act = await scene.prepare(name);
  await stack.begin(binding);
  const heal = proxy.on(call, fault, always);
  const messages = await messageOf(act.act());
  const done = await act.done();
  heal();
  await stack.begin(binding);
  const next = { messages: await messageOf(act.act()), done: await act.done() };
  return { call, messages, done, next };
}

const completed = { messages: "it succeeded", done: 1 };

describe("a deletion is not complete after", () => {
  test.each<[string, Fault]>([
    ["a 200 without a body", instead(200, "", { taken: false })],
    ["a 204", instead(204, "", { taken: false })],
    ["{}", instead(200, "{}", { taken: false })],
    ["the configuration of another object", instead(200, JSON.stringify(others), { taken: false })],
    ["a gateway's 410", instead(410, gone, { taken: false })],
  ])("%s: it fails, and the next run deletes the object", async (what, fault) => {
    const deletions = all.filter(({ call }) => call.startsWith("DELETE"));
    for (const binding of bindingNames.keys())
      for (const scene of deletions) {
        const { messages, ...rest } = await playTwice(scene, `${what} ${binding}`, binding, fault);
        expect({ ...rest, messages }).toEqual({
          ...{ call: scene.call, done: 0, next: completed },
          messages: expect.stringMatching(/DELETE \S+: .*; but a read shows that the object still exists$/),
        });
      }
  });
});

test("a reply about another object is not the reply to any read, change or deletion", async () => {
  for (const [at, scene] of all.filter(({ kind }) => kind !== "makes").entries()) {
    const { call } = scene;
    proxy.clear();
    await stack.begin(bindingNames[at % 2] as (typeof bindingNames)[number]);
    const act = await scene.prepare(`o${at}`);
    await stack.begin(bindingNames[at % 2] as (typeof bindingNames)[number]);
    proxy.on(call, otherObject);
    expect({ call, messages: await messageOf(act.act()), done: await act.done() }).toEqual({
      call,
      ...completed,
    });
  }
});

describe("a change whose reply is the old object", () => {
  const changes = () => all.filter(({ call }) => call.startsWith("PUT"));

  test("fails if the object was not changed, and the next run changes it", async () => {
    for (const binding of bindingNames.keys())
      for (const [at, scene] of changes().entries()) {
        const played = await playTwice(scene, `old ${at} ${binding}`, binding, oldObject({ taken: false }));
        expect(played).toEqual({
          ...{ call: scene.call, done: 0, next: completed },
          messages: expect.stringMatching(
            /: the service accepted the change to (event dataset|model) \S+, but did not apply it: (name|attributeSchema) still has a different value\. Run `pulumi up` again\./,
          ),
        });
      }
  });

  test("succeeds if a read shows the change", async () => {
    for (const [at, scene] of changes().entries()) {
      const played = await playTwice(scene, `late ${at}`, at, oldObject({ taken: true }));
      expect(played).toMatchObject({ call: scene.call, ...completed });
    }
  });
});

describe("a list", () => {
  const noDatasets = instead(200, JSON.stringify({ event_datasets: [] }), { taken: false });
  const noModels = instead(200, JSON.stringify({ models: [] }), { taken: false });

  test.each<[string, Fault]>([
    ["HTML 404", htmlPage(404, { taken: false })],
    ["JSON 404", instead(404, noRoute, { taken: false })],
    ["bare 404", instead(404, JSON.stringify({ message: "Not Found" }), { taken: false })],
    ["JSON 410", instead(410, gone, { taken: false })],
  ])("that is empty does not confirm a gateway's %s: the row stays in the state", async (what, fault) => {
    const { projectId, modelId: existingId } = world;
    for (const binding of bindingNames) {
      proxy.clear();
      await stack.begin(binding);
      const name = `empty list ${what} ${binding}`;
      await stack.up("EventDataset", name, { name, numShards: 1 });
      await stack.up("Model", name, { name, projectId, existingId });
      await stack.begin(binding);
      proxy.on("GET /list-event-datasets", noDatasets, always);
      proxy.on("GET /list-models", noModels, always);
      proxy.on("GET /get-event-dataset", fault, always);
      proxy.on("GET /get-model", fault, always);
      for (const type of ["EventDataset", "Model"])
        expect(await messageOf(stack.refresh(type, name))).toMatch(
          new RegExp(
            `^${type} ${name}: GET \\S+: 4[01][04]: .*${named.source}.*\`pulumi state delete '.+'\``,
          ),
        );
      proxy.heal();
      await stack.begin(binding);
      expect(await stack.refresh("EventDataset", name)).toMatchObject({ name });
    }
  });

  test("that is paged does not hide an object, and one that is out of date does not keep a deleted one", async () => {
    for (const binding of bindingNames) {
      proxy.clear();
      await stack.begin(binding);
      const name = `late list ${binding}`;
      const { id } = await stack.up("EventDataset", name, { name, numShards: 1 });
      await stack.begin(binding);
      proxy.on("GET /list-event-datasets", noDatasets, always);
      expect(await stack.refresh("EventDataset", name)).toMatchObject({ name });
      proxy.clear();
      await stack.begin(binding);
      const late = JSON.stringify({ event_datasets: [{ event_dataset_id: id, name, num_shards: 1 }] });
      proxy.on("GET /list-event-datasets", instead(200, late, { taken: false }), always);
      proxy.on("DELETE /delete-event-dataset", instead(204, "", { taken: true }), always);
      await stack.destroy("EventDataset", name);
      expect(proxy.came.filter((call) => call.startsWith("DELETE"))).toHaveLength(1);
    }
  });
});
