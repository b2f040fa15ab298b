import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type handleUnaryCall, Server, ServerCredentials } from "@grpc/grpc-js";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import { type IResourceProviderServer, ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { GetSchemaResponse, ProviderHandshakeResponse } from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import type { Client } from "../../client/client";
import { version } from "../../package.json";
import { continuing } from "../../telemetry/tracing";
import { cancel } from "../run/cancellation";
import { setEngineAddress } from "./binding";
import type { Configuration } from "./config";
import { failureOf } from "./failure";
import { packageDirectory } from "./package-directory";

let configuration: Configuration | undefined;

const clientHere = async (): Promise<Client> => {
  if (!configuration) throw new Error("the provider is not configured yet");
  const { openSession } = await import("../run/session.js");
  return (await openSession(configuration.settings())).client;
};

const maySwitchBack = () => configuration?.maySwitchBack === true;

const noteKilledRun = async (urn: string): Promise<void> => {
  const { InitialState } = await import("../run/initial-state.js");
  await new InitialState().load({ urn });
};

// These modules are loaded on demand, because the engine waits for the port and the handshake, which do not need them.
const config = () => import("./config.js");
const resources = () => import("./resources.js");

/** Methods of the plugin. For any other method, the engine gets "unimplemented". */
const service: Partial<IResourceProviderServer> = {
  handshake: handler(async (request) => {
    setEngineAddress(request.getEngineAddress());
    const reply = new ProviderHandshakeResponse();
    reply.setAcceptSecrets(true);
    return reply;
  }),
  attach: handler(async (request) => {
    setEngineAddress(request.getAddress());
    return new Empty();
  }),
  getPluginInfo: handler(async () => {
    const reply = new PluginInfo();
    reply.setVersion(version);
    return reply;
  }),
  getSchema: handler(async () => {
    const reply = new GetSchemaResponse();
    reply.setSchema(readFileSync(join(packageDirectory(), "schema.json"), "utf8"));
    return reply;
  }),

  checkConfig: maskedHandler(async (request) => {
    const reply = (await config()).checkConfig(request);
    // With an invalid configuration, this run ends before it reaches a resource, and the engine then drops its notes of
    // an earlier, killed run. Copy them now.
    if (reply.getFailuresList().length > 0) await noteKilledRun(request.getUrn());
    return reply;
  }),
  diffConfig: maskedHandler(async (request) => (await config()).diffConfig(request)),
  configure: maskedHandler(async (request) => {
    const { configurationOf, configureResponse } = await config();
    const given = configurationOf(request);
    configuration = given;
    const get = (key: string) => given.get(key.replace(/^recommender:/, ""));
    const [{ definitions }, { reportAddress }] = await Promise.all([
      import("../definitions.js"),
      import("../run/configuration.js"),
    ]);
    for (const definition of Object.values(definitions)) await definition.configure({ config: { get } });
    await reportAddress(given.get);
    return configureResponse();
  }),

  check: maskedHandler(async (request) => (await resources()).check(request)),
  diff: maskedHandler(async (request) => (await resources()).diff(request)),
  create: maskedHandler(async (request) => (await resources()).create(request, maySwitchBack())),
  read: maskedHandler(async (request) => (await resources()).read(request, maySwitchBack(), clientHere)),
  update: maskedHandler(async (request) => (await resources()).update(request, maySwitchBack())),
  delete: maskedHandler(async (request) => {
    await (await resources()).remove(request);
    return new Empty();
  }),
  invoke: maskedHandler(async (request) => (await import("./invoke.js")).invoke(request, clientHere)),
  // At the end of a run, nobody waits for this call. The component's resources are created by separate calls.
  construct: maskedHandler(async (request) => (await import("./construct.js")).construct(request), false),

  // The engine also calls this at the end of every run. A create that is in flight still finishes.
  cancel: handler(async () => {
    cancel();
    return new Empty();
  }),
};

/** Serves the plugin on a free local port, until it is stopped. */
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

let pendingCalls = 0;

/** Whether the engine waits for a reply. */
export function isBusy(): boolean {
  return pendingCalls > 0;
}

/** Creates a handler. `isAwaited` is false if nobody waits for the reply at the end of a run. */
function handler<Request, Reply>(
  work: (request: Request) => Promise<Reply>,
  isAwaited = true,
): handleUnaryCall<Request, Reply> {
  const count = isAwaited ? 1 : 0;
  return ({ request, metadata }, callback) => {
    pendingCalls += count;
    continuing(metadata.get("traceparent")[0], () => work(request))
      .then(
        (reply) => callback(null, reply),
        (error: Error) => callback(failureOf(error)),
      )
      .finally(() => {
        pendingCalls -= count;
      });
  };
}

/** Creates a handler of requests whose properties may be secret. */
function maskedHandler<Request extends object, Reply>(
  work: (request: Request) => Promise<Reply>,
  isAwaited?: boolean,
): handleUnaryCall<Request, Reply> {
  return handler(async (request: Request) => {
    const { withMaskedSecrets } = await import("./discretion.js");
    return withMaskedSecrets(request, work, configuration?.secrets);
  }, isAwaited);
}
