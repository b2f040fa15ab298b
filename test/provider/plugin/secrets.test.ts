import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { routes } from "../../../contract";
import { ObservedService } from "../../engine/observed-service";
import { DynamicProvider } from "../dynamic-provider";
import { trainedProject } from "../trained-project";
import type { Properties } from "./plugin-connection";
import { PluginProcess, secret } from "./plugin-process";

const directory = mkdtempSync(join(tmpdir(), "recommender-secrets-"));
const rejectsFile = join(directory, "rejects.ndjson");

let observed: ObservedService;
let plugin: PluginProcess;
let dynamic: DynamicProvider;
beforeAll(async () => {
  observed = await ObservedService.start();
  plugin = await PluginProcess.start(observed.config);
  dynamic = await DynamicProvider.start(observed.config);
});
afterAll(async () => {
  await plugin.stop();
  await dynamic.stop();
  await observed.close();
  rmSync(directory, { recursive: true });
});

/** Binding, and its properties with the named ones as secrets. */
const bindings = [
  {
    name: "plugin",
    of: () => plugin,
    with: (properties: Properties, names: readonly string[]) => ({
      ...properties,
      ...Object.fromEntries(names.map((name) => [name, secret(properties[name])])),
    }),
  },
  {
    name: "dynamic",
    of: () => dynamic,
    with: (properties: Properties, __secret: readonly string[]) => ({ ...properties, __secret }),
  },
];

describe.each(bindings)("with the binding $name", (binding) => {
  const everything = () => JSON.stringify([binding.of().messages, plugin.errors]);

  test("the error about a secret argument does not contain it", async () => {
    const refused = async (type: string, properties: Properties, ...names: string[]) =>
      (await binding.of().check(type, binding.with(properties, names))).failures.join();
    const schema = { numShards: 1, attributeSchema: { "hush-key": "hush-value" } };
    expect(await refused("UserDataset", schema, "attributeSchema")).toBe(
      "attributeSchema.[secret]: expected NUMERICAL or CATEGORICAL",
    );
    const source = { userDatasetId: "u", source: "hush-directory/hush-file.csv" };
    expect(await refused("UserRecords", source, "source")).toMatch(/source: \[secret\]: no such file/);
    const mapped = { userDatasetId: "u", source: [{ a: 1 }], mapping: { userId: "hush-column" } };
    expect(await refused("UserRecords", mapped, "mapping")).toMatch(/\[secret\]/);
    const adopted = { numShards: 1, existingId: "hush-dataset" };
    expect(await refused("EventDataset", adopted, "existingId")).toBe(
      "existingId [secret]: there is no such event dataset in this account",
    );
    expect(everything()).not.toContain("hush");
  });

  test("an error about a secret expression does not quote it", async () => {
    const { projectId, models } = await trainedProject(observed);
    const job = { projectId, name: "live", generatorModelId: models[0], qps: 5 };
    const deploy = async (rules: object) => {
      const { id } = await binding.of().create("DeploymentJob", binding.with({ ...job, rules }, ["rules"]));
      const declared = binding.with({ ...job, rules, rollback: false, submittedJobId: id }, ["rules"]);
      return binding.of().create("Deployment", declared);
    };
    const failure = (rules: object) => deploy(rules).catch(({ message }: Error) => message);
    expect(await failure({ filter: "item.hushed > 1" })).toMatch(
      /The rule filter is invalid: at character 1: \[secret\] is unknown/,
    );
    expect(await failure({ boost: [{ when: "true && hush(", factor: 2 }] })).toMatch(
      /rules\.boost\[0\]\.when.*at character/s,
    );
    expect(everything()).not.toContain("hush");
  });

  test("a secret argument is removed from errors of the service", async () => {
    const args = { projectId: "hush-project", name: "it", algorithmType: "G1", algorithmParameters: {} };
    const error = await binding
      .of()
      .create("Algorithm", binding.with(args, ["projectId"]))
      .catch((e) => e);
    expect(error.message).toMatch(/Algorithm .*404/);
    expect(error.message).not.toContain("hush");
  });

  test("a rejected secret record is neither in messages nor in the rejects file", async () => {
    const { eventDatasetId } = await observed.call(routes.createEventDataset, { name: "x", numShards: 1 });
    const record = { userId: "hush-user", itemId: "i", eventType: "v", ts: "hush-time" };
    const properties = { eventDatasetId, source: [record], rejectsFile };
    const { inputs, failures } = await binding
      .of()
      .check("EventRecords", binding.with(properties, ["source"]));
    expect(failures).toEqual([]);
    const error = await binding
      .of()
      .create("EventRecords", inputs)
      .catch((e) => e);
    expect(error.message).toMatch(/1 record was rejected.*The first: .*:1: .*expected an ISO date/);
    const file = readFileSync(rejectsFile, "utf8");
    expect(JSON.parse(file)).toEqual({
      source: "the records in the program",
      line: 1,
      reason: expect.any(String),
      digest: expect.any(String),
    });
    expect([error.message, file, everything()].join()).not.toContain("hush");
  });

  test("the path of a secret source is neither in messages nor in the rejects file", async () => {
    const { eventDatasetId } = await observed.call(routes.createEventDataset, { name: "x", numShards: 1 });
    const path = join(directory, "hush directory.csv");
    writeFileSync(path, "userId,itemId,eventType,ts\nu,i,v,never\n");
    const source = pathToFileURL(path).href;
    const { inputs } = await binding
      .of()
      .check("EventRecords", binding.with({ eventDatasetId, source, rejectsFile }, ["source"]));
    const error = await binding
      .of()
      .create("EventRecords", inputs)
      .catch((e) => e);
    const file = readFileSync(rejectsFile, "utf8");
    expect(JSON.parse(file)).toMatchObject({ source: "file 1 of the source", line: 2 });
    rmSync(path);
    const gone = await binding
      .of()
      .check("EventRecords", binding.with({ eventDatasetId, source }, ["source"]));
    expect(gone.failures.join()).toMatch(/no such file/);
    expect([error.message, file, ...gone.failures, everything()].join()).not.toContain("hush");
  });

  test("an output that repeats a secret argument is secret, and messages do not show it", async () => {
    const { userDatasetId } = await observed.call(routes.createUserDataset, { name: "it", numShards: 1 });
    const adopt = (numShards: number) =>
      binding
        .of()
        .create(
          "UserDataset",
          binding.with({ name: "it", numShards, existingId: userDatasetId }, ["existingId"]),
        );
    expect((await adopt(1)).state.userDatasetId).toEqual(secret(userDatasetId));
    const error = await adopt(2).catch((e) => e);
    expect(error.message).toMatch(/existingId \[secret\]: the user dataset differs/);
    expect([error.message, everything()].join()).not.toContain(userDatasetId);
  });
});

test("secret records in an error of the service are not shown", async () => {
  const echo: RequestListener = async (request, response) => {
    // The client truncates errors at 500 characters, here in the middle of a secret.
    const message = `${`cannot take ${await text(request)} `.padEnd(495, "x")} hush-user`;
    response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ message }));
  };
  const server = createServer(echo).listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const own = await PluginProcess.start({ baseUrl, apiKey: "key-1", accessToken: "token-1" });
  const properties = { userDatasetId: "u", source: secret([{ userId: "hush-user" }]), numShards: 1 };
  const { inputs } = await own.check("UserRecords", properties);
  await expect(own.create("UserRecords", inputs)).rejects.toThrow(/400: cannot take .*\[secret\]/);
  expect(JSON.stringify([own.messages, own.errors])).not.toContain("hush");
  await own.stop();
  server.close();
});

test("the error of a lookup does not show a secret argument", async () => {
  const asked = plugin.invoke("getModel", { projectId: secret("hush-project"), modelId: "m" });
  await expect(asked).rejects.toThrow(/get-model.*404/);
  expect(plugin.errors.join()).not.toContain("hush");
});

test("the detailed diff of the plugin does not list keys inside a secret", async () => {
  const state = (key: string) => ({
    numShards: 1,
    name: "it",
    attributeSchema: secret({ [key]: "NUMERICAL" }),
  });
  const { inputs: olds } = await plugin.check("EventDataset", state("hush-key"));
  const { inputs: news } = await plugin.check("EventDataset", state("hush-other"));
  const { detailed } = await plugin.diff("EventDataset", "event-dataset-1", olds, news);
  expect(detailed).toEqual({ attributeSchema: "UPDATE" });
});

test("a secret address of the service is neither in messages nor in the state as plain text", async () => {
  const { url } = observed.service;
  const { host } = new URL(url);
  const hushed = Object.entries(observed.config).map(([key, value]) => [key, secret(value)]);
  const own = await PluginProcess.start(Object.fromEntries(hushed));
  const dataset = { name: "it", numShards: 1 };
  const byPlugin = await own.create("EventDataset", dataset);
  const byDynamic = await dynamic.create("EventDataset", { ...dataset, __secret: ["recommender:baseUrl"] });
  for (const { state } of [byPlugin, byDynamic]) expect(state.__service).toEqual(secret(url));
  const { projectId, models } = await trainedProject(observed);
  const deployed = { name: "it", projectId, generatorModelId: models[0], qps: 1 };
  await observed.call(routes.submitDeploymentJob, deployed);
  await observed.service.idle();
  const adopted = { ...deployed, existingId: projectId };
  expect((await own.create("Deployment", adopted)).state.servingUri).toEqual(secret(url));
  const lost = own.create("Algorithm", { name: "it", projectId: "p", algorithmType: "G1" });
  await expect(lost).rejects.toThrow(/404.*the request was sent to \[secret\]$/);
  const moved = { ...byPlugin.state, __service: secret("https://hush.example.com") };
  await expect(own.diff("EventDataset", byPlugin.id, moved, dataset)).rejects.toThrow(
    /the service at \[secret\], but \[secret\] is configured/,
  );
  expect(await own.diff("EventDataset", byPlugin.id, byPlugin.state, dataset)).toMatchObject({
    changes: false,
  });
  expect(JSON.stringify([own.messages, own.errors])).not.toMatch(new RegExp(`hush|${host}`));
  await own.stop();
});

test("secrets of a configuration are not in messages about it", async () => {
  const hushed = {
    baseUrl: secret("http://hush.example.com"),
    apiKey: secret("k-1"),
    accessToken: secret("t-1"),
  };
  const own = await PluginProcess.start(hushed, { name: "mine" });
  const { failures } = await own.checkConfig({ ...hushed, trainingTimeout: secret("hush-time") });
  expect(failures).toEqual([expect.stringMatching(/^recommender:trainingTimeout: .*received "\[secret\]"/)]);
  expect(own.messages.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^recommender:baseUrl is at \[secret\], without TLS/),
  ]);
  await own.stop();
});
