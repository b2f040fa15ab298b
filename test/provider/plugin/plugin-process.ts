import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as grpc from "@grpc/grpc-js";
import * as engineGrpc from "@pulumi/pulumi/proto/engine_grpc_pb";
import * as provider from "@pulumi/pulumi/proto/provider_pb";
import * as empty from "google-protobuf/google/protobuf/empty_pb";
import { seal } from "../../../provider/run/sealed-value";
import { stackRoot } from "../dynamic-provider";
import { PluginConnection, type Properties, urnOf } from "./plugin-connection";

/** Returns a secret in Pulumi's protocol. */
export const secret = seal;

interface Options {
  readonly env?: NodeJS.ProcessEnv;
  /** Name of the provider in the program. Default: the name of the default provider. */
  readonly name?: string;
  /** Options for Node. */
  readonly node?: readonly string[];
}

/** Plugin in a separate process, called like the engine calls it. */
export class PluginProcess extends PluginConnection {
  /** Messages of lifecycles to the engine. */
  readonly messages: { readonly message: string; readonly urn: string }[] = [];
  readonly #engine = new grpc.Server();
  readonly #directory = mkdtempSync(join(tmpdir(), "recommender-plugin-"));
  readonly #rows: object[] = [];
  #process!: ChildProcess;

  /** Starts the plugin, does the handshake, and configures it if a configuration is given. */
  static async start(config?: Properties, { env = {}, name = "default", node = [] }: Options = {}) {
    const started = new PluginProcess(name);
    const cwd = started.#directory;
    await writeFile(join(cwd, "pulumi"), `#!/bin/sh\ncat "${cwd}/stack.json"\n`, { mode: 0o755 });
    await writeFile(join(cwd, "stack.json"), JSON.stringify({ deployment: { resources: [stackRoot] } }));
    const main = join(__dirname, "../../../dist/provider/plugin/main.js");
    const engine = `127.0.0.1:${await started.#listen()}`;
    started.#process = spawn(process.execPath, [...node, main, engine], {
      cwd,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, PATH: `${cwd}:${process.env.PATH}`, ...env },
    });
    const output = createInterface({ input: started.#process.stdout as NodeJS.ReadableStream });
    const [port] = (await once(output, "line")) as [string];
    started.connect(port);
    const request = new provider.ProviderHandshakeRequest();
    request.setEngineAddress(engine);
    await started.call("handshake", request);
    if (config) await started.configure(config);
    return started;
  }

  /** Deletes a resource after adding it to the state that `pulumi stack export` prints. */
  override async delete(type: string, id: string, state: Properties): Promise<void> {
    const { __made, __urn } = state;
    this.#rows.push({ urn: urnOf(type), type: `recommender:index:${type}`, id, outputs: { __made, __urn } });
    const stack = { deployment: { resources: [stackRoot, ...this.#rows] } };
    await writeFile(join(this.#directory, "stack.json"), JSON.stringify(stack));
    await super.delete(type, id, state);
  }

  /** Stops the plugin like the engine does. Returns its exit code. */
  async stop(signal: NodeJS.Signals = "SIGINT"): Promise<number | null> {
    this.#process.kill(signal);
    if (this.#process.exitCode === null) await once(this.#process, "exit");
    this.close();
    this.#engine.forceShutdown();
    await rm(this.#directory, { recursive: true });
    return this.#process.exitCode;
  }

  async #listen(): Promise<number> {
    const log: grpc.handleUnaryCall<{ getMessage(): string; getUrn(): string }, unknown> = (
      { request },
      callback,
    ) => {
      this.messages.push({ message: request.getMessage(), urn: request.getUrn() });
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
