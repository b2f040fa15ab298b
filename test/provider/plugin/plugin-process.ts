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
import { PluginConnection, type Properties, urnOf } from "./plugin-connection";

/** A secret as it goes over the wire. */
export const secret = seal;

interface Options {
  readonly env?: NodeJS.ProcessEnv;
  /** The name of the provider in the program; that of the default provider unless set. */
  readonly name?: string;
  /** Options for Node, before the plugin. */
  readonly node?: readonly string[];
}

/** The plugin in a separate process, spoken to as the engine speaks to it. */
export class PluginProcess extends PluginConnection {
  /** What lifecycles said to the engine. */
  readonly said: { readonly message: string; readonly urn: string }[] = [];
  readonly #engine = new grpc.Server();
  readonly #directory = mkdtempSync(join(tmpdir(), "recommender-plugin-"));
  readonly #rows: object[] = [];
  #process!: ChildProcess;

  /** Starts it and shakes hands; with a configuration it is configured too. */
  static async start(config?: Properties, { env = {}, name = "default", node = [] }: Options = {}) {
    const started = new PluginProcess(name);
    const cwd = started.#directory;
    await writeFile(join(cwd, "pulumi"), `#!/bin/sh\ncat "${cwd}/stack.json"\n`, { mode: 0o755 });
    await writeFile(join(cwd, "stack.json"), JSON.stringify({ deployment: {} }));
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

  /** Deletes what the stack holds, as `pulumi stack export` shows it. */
  override async delete(type: string, id: string, state: Properties): Promise<void> {
    const { __made, __urn } = state;
    this.#rows.push({ urn: urnOf(type), type: `recommender:index:${type}`, id, outputs: { __made, __urn } });
    const stack = { deployment: { resources: this.#rows } };
    await writeFile(join(this.#directory, "stack.json"), JSON.stringify(stack));
    await super.delete(type, id, state);
  }

  /** Ends it as the engine does; gives its exit code. */
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
