import { routes } from "../../../contract";
import { unknownValue } from "../../../provider/run/unknown-value";
import { ObservedService } from "../../engine/observed-service";
import { type Properties, urnOf } from "./plugin-connection";
import { PluginProcess, secret } from "./plugin-process";

let observed: ObservedService;
let plugin: PluginProcess;
beforeAll(async () => {
  observed = await ObservedService.start();
  plugin = await PluginProcess.start(observed.config);
});
afterAll(async () => {
  await plugin.stop();
  await observed.close();
});

const declare = async (type: string, news: Properties, olds?: Properties, name?: string) =>
  (await plugin.check(type, news, olds, name)).inputs;

async function createDataset(news: Properties = {}) {
  const inputs = await declare("EventDataset", { numShards: 1, ...news });
  return { inputs, ...(await plugin.create("EventDataset", inputs)) };
}

/** Renames a dataset outside Pulumi. */
const rename = async (eventDatasetId: string, name: string) => {
  const { attributeSchema = null } = await observed.call(routes.getEventDataset, { eventDatasetId });
  await observed.call(routes.updateEventDataset, { eventDatasetId, name, attributeSchema } as never);
};

test("check adds defaults and the logical name, rejects invalid arguments, and accepts unknown ones", async () => {
  expect(await declare("EventDataset", { numShards: 2, attributeSchema: null })).toMatchObject({
    name: "it",
    numShards: 2,
  });
  const { failures } = await plugin.check("EventDataset", { numShards: 0, nme: "x" });
  expect(failures.join()).toMatch(
    /numShards: expected a whole number of at least 1.*nme is unknown; did you mean name\?/,
  );
  expect((await plugin.check("EventDataset", { numShards: unknownValue })).failures).toEqual([]);
});

test("an alias with a different name renames nothing, but removing the argument name does", async () => {
  const first = await declare("EventDataset", { numShards: 1 });
  const renamed = await declare("EventDataset", { numShards: 1 }, first, "other");
  expect(renamed.name).toBe("it");
  expect((await declare("EventDataset", { numShards: 1 }, renamed, "third")).name).toBe("it");
  const named = await declare("EventDataset", { numShards: 1, name: "by hand" }, renamed, "third");
  expect((await declare("EventDataset", { numShards: 1 }, named, "third")).name).toBe("third");
});

test("removing the argument name renames an object of a dynamic provider after a refresh too", async () => {
  const { id, state } = await createDataset({ name: "by hand" });
  const inputs = { name: "by hand", numShards: 1, __urn: urnOf("EventDataset", "first") };
  const read = await plugin.read("EventDataset", id, state, inputs);
  expect((await declare("EventDataset", { numShards: 1 }, read.inputs, "other")).name).toBe("first");
});

test("a dataset is created, read, changed and deleted, and a run without changes makes no call", async () => {
  const { id, inputs, state } = await createDataset({ attributeSchema: { age: "NUMERICAL" } });
  expect(state).toMatchObject({ eventDatasetId: id, name: "it", numShards: 1 });
  expect(Object.keys(state).filter((key) => ["__urn", "__provider"].includes(key))).toEqual([]);
  observed.calls();
  expect(await plugin.diff("EventDataset", id, state, inputs)).toEqual({
    changes: false,
    replaces: [],
    detailed: {},
  });
  expect(observed.calls()).toEqual([]);

  const news = { ...inputs, name: "renamed" };
  const changed = await plugin.update("EventDataset", id, state, news);
  expect(await observed.call(routes.getEventDataset, { eventDatasetId: id })).toMatchObject({
    name: "renamed",
  });
  await rename(id, "by another hand");
  const read = await plugin.read("EventDataset", id, changed, news);
  expect(read.inputs).toMatchObject({ name: "by another hand", numShards: 1 });
  await plugin.delete("EventDataset", id, changed);
  expect((await plugin.read("EventDataset", id, changed)).id).toBe("");
});

test("a diff lists the path of each changed value, and which of them replace the resource", async () => {
  const { id, inputs, state } = await createDataset({
    attributeSchema: { age: "NUMERICAL", "first name": "CATEGORICAL" },
  });
  const news = { ...inputs, numShards: 3, attributeSchema: { age: "CATEGORICAL", city: "CATEGORICAL" } };
  expect(await plugin.diff("EventDataset", id, state, news)).toEqual({
    changes: true,
    replaces: ["numShards"],
    detailed: {
      numShards: "UPDATE_REPLACE",
      "attributeSchema.age": "UPDATE",
      "attributeSchema.city": "ADD",
      'attributeSchema["first name"]': "DELETE",
    },
  });
  expect(plugin.messages.at(-1)).toMatchObject({
    urn: urnOf("EventDataset"),
    message: expect.stringMatching(
      /Replacing EventDataset it deletes its events, unless retainOnDelete is set: numShards 1 → 3/,
    ),
  });
  const { attributeSchema: _, ...without } = inputs;
  expect((await plugin.diff("EventDataset", id, state, without)).detailed).toEqual({
    attributeSchema: "DELETE",
  });
  const query = { name: "q", projectId: "p", modelId: "m", queryType: "user_list" };
  const asking = (value: string) => ({
    ...query,
    queries: [{ conditions: [{ attribute: "genre", value }] }],
  });
  expect(await plugin.diff("QueryingJob", "j", asking("jazz"), asking("rock"))).toEqual({
    changes: true,
    replaces: ["queries"],
    detailed: { "queries[0].conditions[0].value": "UPDATE_REPLACE" },
  });
});

describe("a preview", () => {
  test("of a create knows the arguments but not the outputs, and makes no call", async () => {
    const inputs = await declare("EventDataset", { numShards: 1 });
    observed.calls();
    const { id, state } = await plugin.create("EventDataset", inputs, { preview: true });
    expect(id).toBe("");
    expect(state).toMatchObject({ name: "it", numShards: 1, eventDatasetId: unknownValue });
    expect(observed.calls()).toEqual([]);
  });

  test("knows the id of an adopted object", async () => {
    const inputs = { name: "users", numShards: 1, existingId: "u-1" };
    const { state } = await plugin.create("UserDataset", inputs, { preview: true });
    expect(state).toMatchObject({ userDatasetId: "u-1" });
  });

  test("of an update knows the id, and the other outputs if no argument changes", async () => {
    const { id, inputs, state } = await createDataset();
    const news = { ...inputs, name: "renamed" };
    observed.calls();
    expect(await plugin.update("EventDataset", id, state, news, { preview: true })).toMatchObject({
      name: "renamed",
      eventDatasetId: id,
    });
    expect(observed.calls()).toEqual([]);
    const job = { name: "live", projectId: "p", generatorModelId: "m", qps: 1 };
    const preview = (change: Properties) =>
      plugin.update(
        "DeploymentJob",
        "j-1",
        { ...job, jobId: "j-1" },
        { ...job, ...change },
        { preview: true },
      );
    expect(await preview({ generatorModelId: "n" })).toMatchObject({ jobId: unknownValue });
    expect(await preview({})).toMatchObject({ jobId: "j-1" });
  });
});

describe("a secret value of the program", () => {
  test("stays secret in inputs and outputs, and the service receives the plain value", async () => {
    const attributeSchema = { age: secret("NUMERICAL"), city: "CATEGORICAL" };
    const news = { name: secret("hush-1"), numShards: 1, attributeSchema };
    const inputs = await declare("EventDataset", news);
    expect(inputs).toMatchObject({ name: secret("hush-1"), attributeSchema });
    const { id, state } = await plugin.create("EventDataset", inputs);
    expect(state).toMatchObject({
      name: secret("hush-1"),
      attributeSchema,
      numShards: 1,
      eventDatasetId: id,
    });
    expect(await observed.call(routes.getEventDataset, { eventDatasetId: id })).toMatchObject({
      name: "hush-1",
      attributeSchema: { age: "NUMERICAL", city: "CATEGORICAL" },
    });
    await rename(id, "hush-2");
    const read = await plugin.read("EventDataset", id, state, inputs);
    expect([read.state.name, read.inputs.name]).toEqual([secret("hush-2"), secret("hush-2")]);
    const updated = await plugin.update("EventDataset", id, state, { ...inputs, name: secret("hush-3") });
    expect(updated.name).toEqual(secret("hush-3"));
    const open = await plugin.update("EventDataset", id, updated, { ...inputs, name: "open" });
    expect(open.name).toBe("open");
    await plugin.diff("EventDataset", id, state, { ...inputs, name: secret("hush-4"), numShards: 2 });
    const messages = JSON.stringify([plugin.messages, plugin.errors]);
    expect(messages).not.toMatch(/hush-/);
    expect(messages).not.toContain(observed.service.key);
  });

  test("is secret in a preview too", async () => {
    const inputs = await declare("EventDataset", { name: secret("hush-5"), numShards: 1 });
    const { state } = await plugin.create("EventDataset", inputs, { preview: true });
    expect(state.name).toEqual(secret("hush-5"));
  });

  test("is not in the error of a failed call", async () => {
    const inputs = await declare("EventDataset", { name: secret("hush-6"), numShards: 1 });
    await expect(plugin.create("EventDataset", { ...inputs, existingId: "gone" })).rejects.toThrow(
      /EventDataset it: existingId gone: there is no such event dataset/,
    );
    expect(JSON.stringify([plugin.messages, plugin.errors])).not.toMatch(/hush-6/);
  });
});

test("the preview of a renamed model shows the results of its training, and changeable outputs of a deployment are unknown", async () => {
  const found = { modelId: "m-1", trainingJobId: "j-1", quality: { ndcgAt20: 0.4 } };
  const declared = { projectId: "p-1", submittedJobId: "j-1" };
  const model = { ...declared, name: "before", ...found };
  expect(
    await plugin.update("Model", "m-1", model, { ...declared, name: "after" }, { preview: true }),
  ).toEqual({
    ...declared,
    ...found,
    name: "after",
  });
  const deployment = { ...declared, generatorModelId: "m-1", qps: 1, servingUri: "http://127.0.0.1:1" };
  const more = { ...declared, generatorModelId: "m-1", qps: 2 };
  expect(await plugin.update("Deployment", "p-1", deployment, more, { preview: true })).toMatchObject({
    servingUri: unknownValue,
  });
});

test("the state has the data for a dynamic provider only if the program sets a binding, once per resource", async () => {
  const { state, inputs } = await createDataset();
  expect([state, inputs]).toEqual(Array(2).fill(expect.not.objectContaining({ __urn: expect.anything() })));
  const fromNode = await PluginProcess.start({ ...observed.config, "recommender:binding": "plugin" });
  try {
    const declared = (await fromNode.check("EventDataset", { numShards: 1 })).inputs;
    expect(Object.keys(declared).sort()).toEqual(["__journal", "name", "numShards"]);
    const created = await fromNode.create("EventDataset", declared);
    const kept = {
      __made: expect.stringMatching(new RegExp(`^[0-9a-f]{8} ${urnOf("EventDataset")}$`)),
      __provider: expect.stringMatching(/EventDataset\.lifecycle$/),
    };
    expect(created.state).toMatchObject(kept);
    expect((await fromNode.read("EventDataset", created.id)).state).toMatchObject(kept);
    const changed = { ...declared, name: "another" };
    expect(await fromNode.update("EventDataset", created.id, created.state, changed)).toMatchObject(kept);
  } finally {
    await fromNode.stop();
  }
});

const job = { projectId: "p", modelId: "m" };
test.each([
  ["EventDataset", { numShards: 1 }],
  ["Deployment", { projectId: "p", generatorModelId: "m" }],
  [
    "UserQuery",
    { ...job, queryType: "user_list", queries: [{ conditions: [{ attribute: "a", value: "v" }] }] },
  ],
  ["UserClustering", { ...job, parameters: {} }],
  ["UserRecommendations", job],
])("a long id that a %s cannot adopt is shortened in the error", async (type, args) => {
  const { failures } = await plugin.check(type, { name: "it", ...args, existingId: "x".repeat(9_000) });
  expect(failures.join()).toMatch(/^\W*existingId x{64}…: .{1,250}$/);
});
