import { routes } from "../../../contract";
import { ObservedService } from "../../engine/observed-service";
import { DynamicProvider } from "../dynamic-provider";
import { PluginProcess, secret } from "./plugin-process";

let observed: ObservedService;
let plugin: PluginProcess;
let dynamic: DynamicProvider;
beforeAll(async () => {
  observed = await ObservedService.start();
});
beforeEach(async () => {
  [plugin, dynamic] = await Promise.all([
    PluginProcess.start(observed.config),
    DynamicProvider.start(observed.config),
  ]);
});
afterEach(async () => {
  await Promise.all([plugin.stop(), dynamic.stop()]);
});
afterAll(() => observed.close());

const args = { name: "it", numShards: 1 };
const unchanged = { changes: false, replaces: [] };

test("the plugin reads, changes and deletes objects of a dynamic provider", async () => {
  const { id, state } = await dynamic.create("EventDataset", args);
  const { inputs } = await plugin.check("EventDataset", args, state);
  expect(await plugin.diff("EventDataset", id, state, inputs)).toMatchObject({ ...unchanged, detailed: {} });
  const read = await plugin.read("EventDataset", id, state, inputs);
  expect(await plugin.diff("EventDataset", id, read.state, inputs)).toMatchObject(unchanged);
  const updated = await plugin.update("EventDataset", id, state, { ...inputs, name: "renamed" });
  expect(updated).not.toHaveProperty("__provider");
  await plugin.delete("EventDataset", id, state);
  const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
  expect(eventDatasets).toEqual([]);
});

test("a dynamic provider changes and deletes objects of the plugin", async () => {
  const { inputs } = await plugin.check("EventDataset", args);
  const { id, state } = await plugin.create("EventDataset", inputs);
  const news = (await dynamic.check("EventDataset", args)).inputs;
  expect(await dynamic.diff("EventDataset", id, state, news)).toMatchObject(unchanged);
  await dynamic.update("EventDataset", id, state, { ...news, name: "renamed" });
  await dynamic.delete("EventDataset", id, state);
  const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
  expect(eventDatasets).toEqual([]);
});

test("a dynamic provider reads the URN from a state entry of the plugin", async () => {
  const fromNode = await PluginProcess.start({ ...observed.config, "recommender:binding": "plugin" });
  const { inputs } = await fromNode.check("EventDataset", args);
  const { id, state } = await fromNode.create("EventDataset", inputs).finally(() => fromNode.stop());
  const [, made, urn] = /^(\S+) (.+)$/.exec(String(state.__made)) ?? [];
  const read = await dynamic.read("EventDataset", id, state);
  expect(read.state).toMatchObject({ __made: made, __urn: urn });
  await dynamic.delete("EventDataset", id, { ...read.state, ...state });
  expect(observed.calls()).toContain("DELETE /delete-event-dataset");
});

test("a dynamic provider finds the first name of a resource that was renamed by an alias and read by the plugin", async () => {
  const fromNode = await PluginProcess.start({ ...observed.config, "recommender:binding": "plugin" });
  const urn = (name: string) => `urn:pulumi:test::test::recommender:index:EventDataset::${name}`;
  const { inputs } = await fromNode.check(urn("before"), { numShards: 1 });
  const { id, state } = await fromNode.create(urn("before"), inputs);
  const renamed = await fromNode.check(urn("after"), { numShards: 1 }, inputs);
  const refreshed = await fromNode.read(urn("after"), id, state, renamed.inputs);
  await fromNode.stop();
  const read = await dynamic.read("EventDataset", id, refreshed.state);
  expect(read.inputs).toMatchObject({ name: "before", __firstName: "before" });
  await dynamic.delete("EventDataset", id, read.state);
});

test("a resource with a completely secret state is read, changed and deleted", async () => {
  const { inputs } = await plugin.check("EventDataset", args);
  const { id, state } = await plugin.create("EventDataset", inputs);
  const sealed = Object.fromEntries(Object.entries(state).map(([key, value]) => [key, secret(value)]));
  expect(await plugin.read("EventDataset", id, sealed, inputs)).toMatchObject({ id });
  await plugin.update("EventDataset", id, sealed, { ...inputs, name: "renamed" });
  await plugin.delete("EventDataset", id, sealed);
  expect(observed.calls()).toContain("DELETE /delete-event-dataset");
});

test("the plugin deletes resources from states of versions without tokens", async () => {
  const { id, state } = await dynamic.create("EventDataset", args);
  const { __made, ...older } = state;
  await plugin.delete("EventDataset", id, older);
  expect(observed.calls()).toContain("DELETE /delete-event-dataset");
});

test.each(["plugin", "dynamic"])(
  "an interrupted create of the %s binding is resumed by the other binding",
  async (first) => {
    const user = { name: "it", numShards: 1, attributeSchema: { [first]: "NUMERICAL" } };
    const { inputs } = await plugin.check("UserDataset", user);
    const byPlugin = () => plugin.create("UserDataset", inputs);
    const byDynamic = () => dynamic.create("UserDataset", user);
    const [one, other] = first === "plugin" ? [byPlugin, byDynamic] : [byDynamic, byPlugin];
    const { id } = await one();
    // The engine and its providers were killed before the engine stored the id.
    if (first === "plugin") {
      await plugin.stop("SIGKILL");
      plugin = await PluginProcess.start(observed.config);
    } else {
      await dynamic.stop();
      dynamic = await DynamicProvider.start(observed.config);
    }
    observed.calls();
    expect((await other()).id).toBe(id);
    expect(observed.calls()).not.toContain("POST /create-user-dataset");
  },
);
