import * as grpc from "@grpc/grpc-js";
import * as providerGrpc from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as provider from "@pulumi/pulumi/proto/provider_pb";
import * as empty from "google-protobuf/google/protobuf/empty_pb";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { fromStruct, toStruct } from "../../../provider/plugin/values";

export type Properties = Record<string, unknown>;

/** Options of the engine for an operation. */
interface Options {
  readonly preview?: boolean;
  /** Time limit from the option `customTimeouts`, in seconds. */
  readonly timeoutS?: number;
}

/** Names of the kinds of differences in the protocol, by number. */
const kinds = Object.keys(provider.PropertyDiff.Kind);

/** Connection to a plugin, like the engine's. Resources are given by their type or by a complete URN. */
export class PluginConnection {
  /** All errors of the plugin, which must not contain secrets. */
  readonly errors: string[] = [];
  protected client!: grpc.Client;
  readonly #provider: string;

  /** The default for the name is the name of the default provider. */
  constructor(name = "default") {
    this.#provider = `urn:pulumi:test::test::pulumi:providers:recommender::${name}`;
  }

  connect(port: number | string): void {
    const { ResourceProviderClient } = providerGrpc;
    this.client = new ResourceProviderClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  }

  close(): void {
    this.client.close();
  }

  async configure(config: Properties): Promise<void> {
    const request = new provider.ConfigureRequest();
    request.setUrn(this.#provider);
    request.setArgs(toStruct(shortKeys(config)));
    await this.call("configure", request);
  }

  async checkConfig(news: Properties): Promise<{ inputs: Properties; failures: string[] }> {
    const request = new provider.CheckRequest();
    request.setUrn(this.#provider);
    request.setNews(toStruct(news));
    return checked(await this.call<provider.CheckResponse>("checkConfig", request));
  }

  async diffConfig(olds: Properties, news: Properties) {
    const request = new provider.DiffRequest();
    request.setOldInputs(toStruct(olds));
    request.setNews(toStruct(news));
    return compared(await this.call<provider.DiffResponse>("diffConfig", request));
  }

  async check(whose: string, news: Properties, olds: Properties = {}, name = "it") {
    const request = new provider.CheckRequest();
    request.setUrn(urnOf(whose, name));
    request.setOlds(toStruct(olds));
    request.setNews(toStruct(news));
    return checked(await this.call<provider.CheckResponse>("check", request));
  }

  async diff(whose: string, id: string, olds: Properties, news: Properties) {
    const request = new provider.DiffRequest();
    request.setId(id);
    request.setUrn(urnOf(whose));
    request.setOlds(toStruct(olds));
    request.setNews(toStruct(news));
    return compared(await this.call<provider.DiffResponse>("diff", request));
  }

  async create(whose: string, inputs: Properties, options: Options = {}) {
    const request = new provider.CreateRequest();
    request.setUrn(urnOf(whose));
    request.setProperties(toStruct(inputs));
    request.setPreview(options.preview ?? false);
    request.setTimeout(options.timeoutS ?? 0);
    const reply = await this.call<provider.CreateResponse>("create", request);
    return { id: reply.getId(), state: fromStruct(reply.getProperties()) as Properties };
  }

  async read(whose: string, id: string, state: Properties = {}, inputs: Properties = {}) {
    const request = new provider.ReadRequest();
    request.setId(id);
    request.setUrn(urnOf(whose));
    request.setProperties(toStruct(state));
    request.setInputs(toStruct(inputs));
    const reply = await this.call<provider.ReadResponse>("read", request);
    const read = (struct: Struct | undefined) => fromStruct(struct) as Properties;
    return { id: reply.getId(), state: read(reply.getProperties()), inputs: read(reply.getInputs()) };
  }

  async update(whose: string, id: string, olds: Properties, news: Properties, options: Options = {}) {
    const request = new provider.UpdateRequest();
    request.setId(id);
    request.setUrn(urnOf(whose));
    request.setOlds(toStruct(olds));
    request.setNews(toStruct(news));
    request.setPreview(options.preview ?? false);
    request.setTimeout(options.timeoutS ?? 0);
    const reply = await this.call<provider.UpdateResponse>("update", request);
    return fromStruct(reply.getProperties()) as Properties;
  }

  async delete(whose: string, id: string, state: Properties): Promise<void> {
    const request = new provider.DeleteRequest();
    request.setId(id);
    request.setUrn(urnOf(whose));
    request.setProperties(toStruct(state));
    await this.call("delete", request);
  }

  async invoke(name: string, args: Properties): Promise<Properties> {
    const request = new provider.InvokeRequest();
    request.setTok(`recommender:index:${name}`);
    request.setArgs(toStruct(args));
    return fromStruct((await this.call<provider.InvokeResponse>("invoke", request)).getReturn());
  }

  /** Cancels the plugin, as the engine does on Ctrl+C and at the end of a run. */
  async cancel(): Promise<void> {
    await this.call("cancel", new empty.Empty());
  }

  /** Sends one request of the protocol. */
  call<Reply>(method: string, request: object): Promise<Reply> {
    type Call = (request: object, callback: (error: Error | null, reply: Reply) => void) => void;
    const client = this.client as unknown as Record<string, Call>;
    return new Promise((resolve, reject) => {
      client[method]?.(request, (error, reply) => {
        if (error) this.errors.push(error.message);
        if (error) reject(error);
        else resolve(reply);
      });
    });
  }
}

/** Returns the URN of a test resource by its type. A complete URN is returned unchanged. */
export function urnOf(type: string, name = "it"): string {
  return type.startsWith("urn:") ? type : `urn:pulumi:test::test::recommender:index:${type}::${name}`;
}

/** Removes the namespace from configuration keys, as the engine does for a provider. */
export function shortKeys(config: Properties): Properties {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key.replace("recommender:", ""), value]),
  );
}

function checked(reply: provider.CheckResponse) {
  const failures = reply.getFailuresList().map((failure) => failure.getReason());
  return { inputs: fromStruct(reply.getInputs()) as Properties, failures };
}

function compared(reply: provider.DiffResponse) {
  const detailed = [...reply.getDetaileddiffMap().entries()];
  return {
    changes: reply.getChanges() === provider.DiffResponse.DiffChanges.DIFF_SOME,
    replaces: reply.getReplacesList(),
    detailed: Object.fromEntries(detailed.map(([path, diff]) => [path, kinds[diff.getKind()]])),
  };
}
