import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type handleUnaryCall, Server, ServerCredentials } from "@grpc/grpc-js";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import { type IResourceProviderServer, ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { GetSchemaResponse, ProviderHandshakeResponse } from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import type { Client } from "../../client/client";
import { version } from "../../package.json";
import { cancel } from "../run/cancellation";
import { setEngineAddress } from "./binding";
import type { Configuration } from "./config";
import { failureOf } from "./failure";
import { packageFolder } from "./package-folder";

let configuration: Configuration | undefined;

const clientHere = async (): Promise<Client> => {
  if (!configuration) throw new Error("the provider is not configured yet");
  const { openSession } = await import("../run/session.js");
  return (await openSession(configuration.settings())).client;
};

const maySwitchBack = () => configuration?.maySwitchBack === true;

// Loaded when they are first asked for: the engine waits for the port and for the handshake, which need none of it.
const config = () => import("./config.js");
const resources = () => import("./resources.js");

/** What the engine may ask of the plugin; it gets "unimplemented" for anything else. */
const service: Partial<IResourceProviderServer> = {
  handshake: answering(async (request) => {
    setEngineAddress(request.getEngineAddress());
    const reply = new ProviderHandshakeResponse();
    reply.setAcceptSecrets(true);
    return reply;
  }),
  attach: answering(async (request) => {
    setEngineAddress(request.getAddress());
    return new Empty();
  }),
  getPluginInfo: answering(async () => {
    const reply = new PluginInfo();
    reply.setVersion(version);
    return reply;
  }),
  getSchema: answering(async () => {
    const reply = new GetSchemaResponse();
    reply.setSchema(readFileSync(join(packageFolder(), "schema.json"), "utf8"));
    return reply;
  }),

  checkConfig: discreet(async (request) => (await config()).checkConfig(request)),
  diffConfig: discreet(async (request) => (await config()).diffConfig(request)),
  configure: discreet(async (request) => {
    const { configurationOf, configureResponse } = await config();
    const given = configurationOf(request);
    configuration = given;
    const get = (key: string) => given.get(key.replace(/^recommender:/, ""));
    const [{ definitions }, { reportAddress: tellDoubts }] = await Promise.all([
      import("../definitions.js"),
      import("../run/configuration.js"),
    ]);
    for (const definition of Object.values(definitions)) await definition.configure({ config: { get } });
    await tellDoubts(given.get);
    return configureResponse();
  }),

  check: discreet(async (request) => (await resources()).check(request)),
  diff: discreet(async (request) => (await resources()).diff(request)),
  create: discreet(async (request) => (await resources()).create(request, maySwitchBack())),
  read: discreet(async (request) => (await resources()).read(request, maySwitchBack(), clientHere)),
  update: discreet(async (request) => (await resources()).update(request, maySwitchBack())),
  delete: discreet(async (request) => {
    await (await resources()).remove(request);
    return new Empty();
  }),
  invoke: discreet(async (request) => (await import("./invoke.js")).invoke(request, clientHere)),
  // The program waits for it, but not once the engine has asked to end; what it registers is created by calls of its own.
  construct: discreet(async (request) => (await import("./construct.js")).construct(request), false),

  // It comes at the end of every run too. A call that creates is finished all the same.
  cancel: answering(async () => {
    cancel();
    return new Empty();
  }),
};

/** Serves the plugin on a free port of this machine, until it is stopped. */
export function listen(): Promise<{ readonly port: number; stop(): void }> {
  const unlimited = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };
  const server = new Server(unlimited);
  server.addService(ResourceProviderService, service as IResourceProviderServer);
  return new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve({ port, stop: () => server.forceShutdown() }),
    );
  });
}

let underWay = 0;

/** Whether the engine waits for an answer. */
export function isAnswering(): boolean {
  return underWay > 0;
}

/** `isAwaited`: whether the engine waits for the answer at the end of a run too. */
function answering<Request, Reply>(
  work: (request: Request) => Promise<Reply>,
  isAwaited = true,
): handleUnaryCall<Request, Reply> {
  const count = isAwaited ? 1 : 0;
  return ({ request }, callback) => {
    underWay += count;
    work(request)
      .then(
        (reply) => callback(null, reply),
        (error: Error) => callback(failureOf(error)),
      )
      .finally(() => {
        underWay -= count;
      });
  };
}

/** The same for requests whose properties may be secret. */
function discreet<Request extends object, Reply>(
  work: (request: Request) => Promise<Reply>,
  isAwaited?: boolean,
): handleUnaryCall<Request, Reply> {
  return answering(async (request: Request) => {
    const { discreetly } = await import("./discretion.js");
    return discreetly(request, work, configuration?.secrets);
  }, isAwaited);
}
