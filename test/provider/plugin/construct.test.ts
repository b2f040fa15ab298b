import * as grpc from "@grpc/grpc-js";
import * as provider from "@pulumi/pulumi/proto/provider_pb";
import { type IResourceMonitorServer, ResourceMonitorService } from "@pulumi/pulumi/proto/resource_grpc_pb";
import { type RegisterResourceRequest, RegisterResourceResponse } from "@pulumi/pulumi/proto/resource_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { version } from "../../../package.json";
import { toStruct } from "../../../provider/plugin/values";
import { PluginProcess } from "./plugin-process";

/** Registered resources, by the last part of their type. */
const registered = new Map<string, RegisterResourceRequest>();
const monitor = new grpc.Server();
/** Resolves when the resource is registered whose registration never completes. */
const held = { promise: Promise.resolve(), resolve: () => {} };
held.promise = new Promise((resolve) => {
  held.resolve = resolve;
});
let address: string;
let plugin: PluginProcess;

beforeAll(async () => {
  const service: Partial<IResourceMonitorServer> = {
    registerResource({ request }, callback) {
      if (request.getName() === "held") return held.resolve();
      registered.set(request.getType().split(":")[2] as string, request);
      const reply = new RegisterResourceResponse();
      reply.setUrn(`urn:pulumi:test::test::${request.getType()}::${request.getName()}`);
      reply.setObject(toStruct({ jobId: "job-1" }));
      callback(null, reply);
    },
    registerResourceOutputs: (_, callback) => callback(null, new Empty()),
  };
  monitor.addService(ResourceMonitorService, service as IResourceMonitorServer);
  const port = await new Promise<number>((resolve, reject) => {
    const credentials = grpc.ServerCredentials.createInsecure();
    monitor.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  address = `127.0.0.1:${port}`;
  plugin = await PluginProcess.start();
});
afterAll(async () => {
  await plugin.stop();
  monitor.forceShutdown();
});

/** Component with every option that the engine passes on. */
async function construct(type: string, inputs: object): Promise<void> {
  registered.clear();
  const request = new provider.ConstructRequest();
  request.setMonitorendpoint(address);
  request.setType(`recommender:index:${type}`);
  request.setName("it");
  request.setInputs(toStruct(inputs));
  request.setIgnorechangesList(["triggers[0]", "name", "*"]);
  request.setReplaceonchangesList(["name"]);
  request.setAdditionalsecretoutputsList(["modelId"]);
  request.setReplaceWithList(["urn:pulumi:test::test::a:b:C::c"]);
  request.setDeletebeforereplace(true);
  request.setProtect(true);
  const timeouts = new provider.ConstructRequest.CustomTimeouts();
  timeouts.setCreate("1h");
  request.setCustomtimeouts(timeouts);
  const hooks = new provider.ConstructRequest.ResourceHooksBinding();
  hooks.setAfterCreateList(["tell"]);
  request.setResourceHooks(hooks);
  await plugin.call("construct", request);
}

/** Returns the options of a child resource. */
const options = (type: string) => {
  const child = registered.get(type)?.toObject();
  return {
    ignoreChanges: child?.ignorechangesList,
    replaceOnChanges: child?.replaceonchangesList,
    secret: child?.additionalsecretoutputsList,
    replaceWith: child?.replaceWithList,
    deletedFirst: [child?.deletebeforereplace, child?.deletebeforereplacedefined],
    isProtected: child?.protect,
    timeout: child?.customtimeouts?.create,
    afterCreate: child?.hooks?.afterCreateList,
    version: child?.version,
  };
};

const passedOn = {
  ignoreChanges: ["name", "*"],
  replaceOnChanges: ["name"],
  secret: ["modelId"],
  replaceWith: ["urn:pulumi:test::test::a:b:C::c"],
  deletedFirst: [true, true],
  isProtected: true,
  timeout: "1h",
  afterCreate: undefined,
  version,
};

test("the resources of a component get its options and the version of the plugin; only the result gets the hooks", async () => {
  await construct("DeployedModel", { projectId: "p", generatorModelId: "m" });
  expect(options("DeploymentJob")).toEqual(passedOn);
  expect(options("Deployment")).toEqual({ ...passedOn, afterCreate: ["tell"] });
  await construct("TrainedModel", { projectId: "p", algorithmId: "a" });
  expect(options("TrainingJob").ignoreChanges).toEqual(["triggers[0]", "name", "*"]);
});

test("a model is not deleted before its replacement, despite the option, with a warning", async () => {
  await construct("TrainedModel", { projectId: "p", algorithmId: "a" });
  for (const type of ["TrainingJob", "Model"]) expect(options(type).deletedFirst).toEqual([false, false]);
  expect(plugin.messages).toContainEqual(
    expect.objectContaining({
      message: expect.stringMatching(/^deleteBeforeReplace does not apply to models/),
    }),
  );
});

test("the plugin ends although a component waits for a resource that is never registered", async () => {
  const own = await PluginProcess.start();
  const request = new provider.ConstructRequest();
  request.setMonitorendpoint(address);
  request.setType("recommender:index:TrainedModel");
  request.setName("held");
  const constructing = own.call("construct", request).catch((error) => error);
  await held.promise;
  expect(await own.stop()).toBe(0);
  expect(await constructing).toBeInstanceOf(Error);
});
