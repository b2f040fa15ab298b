import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as grpc from "@grpc/grpc-js";
import * as engineGrpc from "@pulumi/pulumi/proto/engine_grpc_pb";
import * as providerGrpc from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as provider from "@pulumi/pulumi/proto/provider_pb";
import * as empty from "google-protobuf/google/protobuf/empty_pb";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { fromStruct, seal, toStruct } from "../../../provider/plugin/values";

export type Properties = Record<string, unknown>;

/** A secret as it goes over the wire. */
export const secret = seal;

/** Its names for kinds of differences, by number. */
const kinds = Object.keys(provider.PropertyDiff.Kind);

interface Options {
  readonly env?: NodeJS.ProcessEnv;
  /** The name of the provider in the program; that of the default provider unless set. */
  readonly name?: string;
  /** Options for Node, before the plugin. */
  readonly node?: readonly string[];
}

/** The plugin in a process of its own, spoken to as the engine speaks to it. */
export class PluginProcess {
  /** What lifecycles said to the engine. */
  readonly said: { readonly message: string; readonly urn: string }[] = [];
  /** Everything that came over the wire, to look for secrets in what must not hold any. */
  readonly errors: string[] = [];
  readonly #engine = new grpc.Server();
  readonly #folder = mkdtempSync(join(tmpdir(), "recommender-plugin-"));
  readonly #rows: object[] = [];
  #process!: ChildProcess;
  #client!: grpc.Client;
  #urn = "";

  /** Starts it and shakes hands; with a configuration it is configured too. */
  static async start(config?: Properties, { env = {}, name = "default", node = [] }: Options = {}) {
    const started = new PluginProcess();
    started.#urn = `urn:pulumi:test::test::pulumi:providers:recommender::${name}`;
    const cwd = started.#folder;
    await writeFile(join(cwd, "pulumi"), `#!/bin/sh\ncat "${cwd}/stack.json"\n`, { mode: 0o755 });
    const main = join(__dirname, "../../../dist/provider/plugin/main.js");
    const engine = `127.0.0.1:${await started.#listen()}`;
    started.#process = spawn(process.execPath, [...node, main, engine], {
      cwd,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, PATH: `${cwd}:${process.env.PATH}`, ...env },
    });
    const output = createInterface({ input: started.#process.stdout as NodeJS.ReadableStream });
    const [port] = (await once(output, "line")) as [string];
    const { ResourceProviderClient } = providerGrpc;
    started.#client = new ResourceProviderClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
    const request = new provider.ProviderHandshakeRequest();
    request.setEngineAddress(engine);
    await started.call("handshake", request);
    if (config) await started.configure(config);
    return started;
  }

  async configure(config: Properties): Promise<void> {
    const request = new provider.ConfigureRequest();
    request.setUrn(this.#urn);
    request.setArgs(toStruct(shortKeys(config)));
    await this.call("configure", request);
  }

  async checkConfig(news: Properties): Promise<{ inputs: Properties; failures: string[] }> {
    const request = new provider.CheckRequest();
    request.setUrn(this.#urn);
    request.setNews(toStruct(news));
    return checked(await this.call<provider.CheckResponse>("checkConfig", request));
  }

  async diffConfig(olds: Properties, news: Properties) {
    const request = new provider.DiffRequest();
    request.setOldInputs(toStruct(olds));
    request.setNews(toStruct(news));
    return compared(await this.call<provider.DiffResponse>("diffConfig", request));
  }

  async check(type: string, news: Properties, olds: Properties = {}, name = "it") {
    const request = new provider.CheckRequest();
    request.setUrn(urnOf(type, name));
    request.setOlds(toStruct(olds));
    request.setNews(toStruct(news));
    return checked(await this.call<provider.CheckResponse>("check", request));
  }

  async diff(type: string, id: string, olds: Properties, news: Properties) {
    const request = new provider.DiffRequest();
    request.setId(id);
    request.setUrn(urnOf(type));
    request.setOlds(toStruct(olds));
    request.setNews(toStruct(news));
    return compared(await this.call<provider.DiffResponse>("diff", request));
  }

  async create(type: string, inputs: Properties, options: { preview?: boolean; timeoutS?: number } = {}) {
    const request = new provider.CreateRequest();
    request.setUrn(urnOf(type));
    request.setProperties(toStruct(inputs));
    request.setPreview(options.preview ?? false);
    request.setTimeout(options.timeoutS ?? 0);
    const reply = await this.call<provider.CreateResponse>("create", request);
    return { id: reply.getId(), state: fromStruct(reply.getProperties()) as Properties };
  }

  async read(type: string, id: string, state: Properties = {}, inputs: Properties = {}) {
    const request = new provider.ReadRequest();
    request.setId(id);
    request.setUrn(urnOf(type));
    request.setProperties(toStruct(state));
    request.setInputs(toStruct(inputs));
    const reply = await this.call<provider.ReadResponse>("read", request);
    const read = (struct: Struct | undefined) => fromStruct(struct) as Properties;
    return { id: reply.getId(), state: read(reply.getProperties()), inputs: read(reply.getInputs()) };
  }

  async update(type: string, id: string, olds: Properties, news: Properties, preview = false) {
    const request = new provider.UpdateRequest();
    request.setId(id);
    request.setUrn(urnOf(type));
    request.setOlds(toStruct(olds));
    request.setNews(toStruct(news));
    request.setPreview(preview);
    const reply = await this.call<provider.UpdateResponse>("update", request);
    return fromStruct(reply.getProperties()) as Properties;
  }

  async delete(type: string, id: string, state: Properties): Promise<void> {
    const request = new provider.DeleteRequest();
    request.setId(id);
    request.setUrn(urnOf(type));
    request.setProperties(toStruct(state));
    const { __made, __urn } = state;
    this.#rows.push({
      urn: urnOf(type),
      type: `recommender:index:${type}`,
      id,
      outputs: { __made, __urn },
    });
    const stack = { deployment: { resources: this.#rows } };
    await writeFile(join(this.#folder, "stack.json"), JSON.stringify(stack));
    await this.call("delete", request);
  }

  async invoke(name: string, args: Properties): Promise<Properties> {
    const request = new provider.InvokeRequest();
    request.setTok(`recommender:index:${name}`);
    request.setArgs(toStruct(args));
    return fromStruct((await this.call<provider.InvokeResponse>("invoke", request)).getReturn());
  }

  /** Asks it to stop waiting, as the engine does on Ctrl+C and at the end of a run. */
  async cancel(): Promise<void> {
    await this.call("cancel", new empty.Empty());
  }

  /** Sends one request of the protocol. */
  call<Reply>(method: string, request: object): Promise<Reply> {
    type Call = (request: object, callback: (error: Error | null, reply: Reply) => void) => void;
    const client = this.#client as unknown as Record<string, Call>;
    return new Promise((resolve, reject) => {
      client[method]?.(request, (error, reply) => {
        if (error) this.errors.push(error.message);
        if (error) reject(error);
        else resolve(reply);
      });
    });
  }

  /** Ends it as the engine does; gives its exit code. */
  async stop(signal: NodeJS.Signals = "SIGINT"): Promise<number | null> {
    this.#process.kill(signal);
    if (this.#process.exitCode === null) await once(this.#process, "exit");
    this.#client.close();
    this.#engine.forceShutdown();
    await rm(this.#folder, { recursive: true });
    return this.#process.exitCode;
  }

  async #listen(): Promise<number> {
    const log: grpc.handleUnaryCall<{ getMessage(): string; getUrn(): string }, unknown> = (
      { request },
      callback,
    ) => {
      this.said.push({ message: request.getMessage(), urn: request.getUrn() });
      callback(null, new empty.Empty());
    };
    const { EngineService } = engineGrpc as unknown as { EngineService: grpc.ServiceDefinition };
    this.#engine.addService(EngineService, { log });
    return new Promise((resolve, reject) => {
      this.#engine.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
        error ? reject(error) : resolve(port),
      );
    });
  }
}

/** The URN of a resource of the tests. */
export function urnOf(type: string, name = "it"): string {
  return `urn:pulumi:test::test::recommender:index:${type}::${name}`;
}

/** Configuration without its namespace, as a provider gets it. */
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
