import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import type { ProviderHandshakeResponse } from "@pulumi/pulumi/proto/provider_pb";
import * as provider from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { routes } from "../../../contract";
import { version } from "../../../package.json";
import { definitions } from "../../../provider/definitions";
import { components } from "../../../provider/plugin/components";
import { toStruct } from "../../../provider/plugin/values";
import { unknownValue } from "../../../provider/run/unknown-value";
import { ObservedService } from "../../engine/observed-service";
import { PluginProcess } from "./plugin-process";

const root = join(__dirname, "../../..");
const directory = mkdtempSync(join(tmpdir(), "recommender-plugin-test-"));

let observed: ObservedService;
let plugin: PluginProcess;
beforeAll(async () => {
  observed = await ObservedService.start();
  plugin = await PluginProcess.start(observed.config);
});
afterAll(async () => {
  await plugin.stop();
  await observed.close();
  rmSync(directory, { recursive: true });
});

test("the plugin accepts secrets and returns its version", async () => {
  const shaken = await plugin.call<ProviderHandshakeResponse>(
    "handshake",
    new provider.ProviderHandshakeRequest(),
  );
  expect(shaken.getAcceptSecrets()).toBe(true);
  expect((await plugin.call<PluginInfo>("getPluginInfo", new Empty())).getVersion()).toBe(version);
});

test("the plugin returns the schema of the package, with every resource, component and function", async () => {
  const reply = await plugin.call<provider.GetSchemaResponse>("getSchema", new provider.GetSchemaRequest());
  const schema = JSON.parse(reply.getSchema()) as { resources: object; functions: object };
  const names = [...Object.keys(definitions), ...components.map(({ type }) => type)];
  expect(Object.keys(schema.resources).sort()).toEqual(
    names.map((name) => `recommender:index:${name}`).sort(),
  );
  for (const name of Object.keys(schema.functions))
    await expect(plugin.invoke(name.split(":")[2] as string, { nonsense: 1 })).rejects.toThrow(
      /nonsense is unknown/,
    );
});

/** Returns the files that a plugin had loaded at its end. */
async function loadedBy(work: (own: PluginProcess) => Promise<void>, config?: object): Promise<string[]> {
  const list = join(directory, "modules.json");
  const hook = join(directory, "hook.js");
  const write = `require("fs").writeFileSync(${JSON.stringify(list)}, JSON.stringify(Object.keys(require.cache)))`;
  writeFileSync(hook, `process.on("exit", () => ${write});`);
  // Without the options that make processes start faster in tests.
  const options = { node: ["--require", hook], env: { NODE_OPTIONS: "" } };
  const own = await PluginProcess.start(config && { ...config }, options);
  await work(own);
  await own.stop();
  return JSON.parse(readFileSync(list, "utf8"));
}

test("a run that creates, reads and deletes loads only the protocol from the SDK", async () => {
  const loaded = await loadedBy(async (own) => {
    const { inputs } = await own.check("EventDataset", { numShards: 1 });
    const { id, state } = await own.create("EventDataset", inputs);
    await own.read("EventDataset", id, state);
    await own.delete("EventDataset", id, state);
    await own.invoke("listEventDatasets", {});
  }, observed.config);
  const ofSdk = loaded.filter((file) => file.includes("/@pulumi/pulumi/"));
  expect(ofSdk.length).toBeGreaterThan(0);
  expect(ofSdk.filter((file) => !file.includes("/@pulumi/pulumi/proto/"))).toEqual([]);
});

test("no code of the API is loaded before the handshake", async () => {
  const loaded = await loadedBy(async () => {});
  expect(loaded.filter((file) => /\/zod\/|\/dist\/(contract|client)\//.test(file))).toEqual([]);
});

test.each(["SIGINT", "SIGTERM"] as const)("%s ends the plugin without an error", async (signal) => {
  const own = await PluginProcess.start(observed.config);
  expect(await own.stop(signal)).toBe(0);
});

test("an unknown resource, function or method is rejected with the existing ones", async () => {
  await expect(plugin.check("EventDatset", {})).rejects.toThrow(
    /EventDatset is unknown; did you mean recommender:index:EventDataset\?/,
  );
  await expect(plugin.invoke("getModl", {})).rejects.toThrow(
    /getModl is unknown; did you mean recommender:index:getModel\? Known: getEventDataset, /,
  );
  const ofOther = new provider.InvokeRequest();
  ofOther.setTok("other:index:listEventDatasets");
  await expect(plugin.call("invoke", ofOther)).rejects.toThrow(/The function other:index:\w+ is unknown/);
  await expect(plugin.check("x".repeat(9_000), {})).rejects.toThrow(/^.{1,600}$/);
  await expect(plugin.call("getMapping", new provider.GetMappingRequest())).rejects.toThrow(/UNIMPLEMENTED/);
});

test("an unknown component or component argument is rejected with the existing ones", async () => {
  const request = new provider.ConstructRequest();
  request.setName("weekly");
  request.setType("recommender:index:TraindModel");
  await expect(plugin.call("construct", request)).rejects.toThrow(/did you mean TrainedModel\?/);
  request.setType("recommender:index:TrainedModel");
  request.setInputs(toStruct({ projectID: "p" }));
  await expect(plugin.call("construct", request)).rejects.toThrow(
    /TrainedModel weekly: projectID is unknown; did you mean projectId\?/,
  );
});

test("a lookup returns the response of the service, and reports wrong arguments and missing objects", async () => {
  const created = await observed.call(routes.createEventDataset, { name: "clicks", numShards: 1 });
  const { eventDatasetId } = created;
  expect(await plugin.invoke("getEventDataset", { eventDatasetId })).toMatchObject({ name: "clicks" });
  const { eventDatasets } = await plugin.invoke("listEventDatasets", {});
  expect(eventDatasets).toContainEqual(expect.objectContaining({ eventDatasetId }));
  await expect(plugin.invoke("getEventDataset", {})).rejects.toThrow(/eventDatasetId: missing/);
  await expect(plugin.invoke("getJob", { projectId: "p", jobId: "j" })).rejects.toThrow(/get-job.*404/);
  await expect(plugin.invoke("listModels", { projectId: "p" })).rejects.toThrow(/list-models.*404/);
  await expect(plugin.invoke("getModel", { projectId: "p", modelId: "m" })).rejects.toThrow(/get-model.*404/);
  await expect(plugin.invoke("recommend", { userId: "u" })).rejects.toThrow(
    /recommend-items-to-user: \d+ NOT_DEPLOYED: No model is deployed/,
  );
});

test("the command in the plugin directory of the engine finds the package of the program", async () => {
  const command = join(directory, "pulumi-resource-recommender");
  cpSync(join(root, "plugin/pulumi-resource-recommender"), command);
  const program = join(directory, "program/inner");
  mkdirSync(join(directory, "program/node_modules"), { recursive: true });
  mkdirSync(program);
  const start = (cwd: string) => spawn(command, [], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const lost = start(program);
  const [message] = (await once(lost.stderr, "data")) as [Buffer];
  expect(String(message)).toMatch(
    /found no package pulumi-recommender in .*inner or its parents\. Run `npm install/,
  );
  symlinkSync(root, join(directory, "program/node_modules/pulumi-recommender"));
  // The examples of the package are programs too.
  for (const cwd of [program, join(root, "examples/yaml")]) {
    const child = start(cwd);
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    expect(Number(port)).toBeGreaterThan(0);
    child.kill("SIGINT");
    expect((await once(child, "exit"))[0]).toBe(0);
  }
});

test("a plugin without the address of an engine still works", async () => {
  const main = join(root, "dist/provider/plugin/main.js");
  const child = spawn(process.execPath, [main], { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = (await once(child.stdout, "data")) as [Buffer];
  expect(Number(port)).toBeGreaterThan(0);
  child.kill("SIGINT");
  expect((await once(child, "exit"))[0]).toBe(0);
});

test.each(["Modle", "constructor", "__proto__"])(
  "a resource of the unknown type %s is rejected",
  async (type) => {
    await expect(plugin.check(type, {})).rejects.toThrow(/The resource type .* is unknown/);
  },
);

test("a call before the configuration is rejected with an explanation", async () => {
  const early = await PluginProcess.start();
  const dataset = { name: "it", numShards: 1 };
  const calls = [
    () => early.check("EventDataset", dataset),
    () => early.create("EventDataset", dataset),
    () => early.delete("EventDataset", "id", dataset),
    () => early.invoke("listEventDatasets", {}),
  ];
  for (const call of calls) await expect(call()).rejects.toThrow(/the provider is not configured yet/);
  await early.stop();
});

test.each(["__made", "__firstName", "__named", "__secret", "__replaceOn", "__service", "__anything"])(
  "a program cannot set the hidden property %s",
  async (name) => {
    const { failures } = await plugin.check("EventDataset", { numShards: 1, [name]: ["x"] });
    expect(failures).toEqual([
      `${name}: names that start with __ are reserved for this package; remove it from the program`,
    ]);
  },
);

test("hidden inputs that the engine passes back are accepted, for import and ignoreChanges", async () => {
  const { inputs } = await plugin.check("EventDataset", { name: "it", numShards: 1 });
  expect(inputs).toHaveProperty("__named");
  const { failures } = await plugin.check("EventDataset", inputs, inputs);
  expect(failures).toEqual([]);
});

test("nothing is created with an argument that is not known yet", async () => {
  observed.calls();
  const creating = plugin.create("EventDataset", { name: unknownValue, numShards: 1 });
  await expect(creating).rejects.toThrow(/EventDataset it: name is not known yet/);
  const uploading = plugin.create("EventRecords", { eventDatasetId: "e" });
  await expect(uploading).rejects.toThrow(/EventRecords it: source is not known yet/);
  expect(observed.calls()).toEqual([]);
});

test("hidden properties that the package has not written are rejected by name", async () => {
  const dataset = { name: "it", numShards: 1 };
  const odd =
    /Names that start with __ are reserved for this package: remove them from the program, or fix the state/;
  const damaged = [
    () => plugin.check("EventDataset", { ...dataset, __unresolved: 5 }),
    () => plugin.diff("EventDataset", "id", dataset, { ...dataset, __replaceOn: 5 }),
    () => plugin.diff("EventDataset", "id", { ...dataset, __service: ["x"] }, dataset),
    () => plugin.read("EventDataset", "id", { ...dataset, __inferred: "{bad" }),
    () => plugin.update("EventDataset", "id", { ...dataset, __secret: {} }, dataset),
    () => plugin.delete("EventDataset", "id", { ...dataset, __service: ["x"] }),
  ];
  for (const call of damaged) await expect(call()).rejects.toThrow(odd);
});
