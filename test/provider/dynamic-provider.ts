import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as grpc from "@grpc/grpc-js";
import * as engineGrpc from "@pulumi/pulumi/proto/engine_grpc_pb";
import * as providerGrpc from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as provider from "@pulumi/pulumi/proto/provider_pb";
import * as status from "@pulumi/pulumi/proto/status_pb";
import * as empty from "google-protobuf/google/protobuf/empty_pb";
import { type JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb";
import { stub } from "../../provider/dynamic/stub";

type Properties = Record<string, unknown>;

/** Response of `diff` of a dynamic provider. */
export interface Diff {
  readonly changes: boolean;
  readonly replaces: string[];
}

/** Placeholder for unknown values in previews. */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Root resource of the stack in these tests. All processes belong to one stack, because it was created once. */
export const stackRoot = {
  urn: "urn:pulumi:test::test::pulumi:pulumi:Stack::test-test",
  type: "pulumi:pulumi:Stack",
  created: "2026-01-01T00:00:00Z",
};

/** Dynamic provider of the SDK in a separate process, called like the engine calls it. */
export class DynamicProvider {
  /** Messages of the lifecycles, by severity. */
  readonly messages: { severity: "debug" | "info" | "warning" | "error"; message: string; urn: string }[] =
    [];
  /** State of the stack, as `pulumi stack export` prints it. */
  readonly rows: { urn: string; type: string; id: string; outputs: Properties }[] = [];
  readonly #engine = new grpc.Server();
  readonly #directory = mkdtempSync(join(tmpdir(), "recommender-provider-"));
  #process!: ChildProcess;
  #client!: providerGrpc.IResourceProviderClient;

  static async start(config: Record<string, string>): Promise<DynamicProvider> {
    const started = new DynamicProvider();
    const cwd = started.#directory;
    await mkdir(join(cwd, "node_modules"));
    await symlink(join(__dirname, "../.."), join(cwd, "node_modules/pulumi-recommender"));
    const pulumi = `#!/bin/sh\necho "$@" >> "${cwd}/exports"\ncat "${cwd}/stack.json"\n`;
    await writeFile(join(cwd, "pulumi"), pulumi, { mode: 0o755 });
    await writeFile(join(cwd, "stack.json"), JSON.stringify({ deployment: { resources: [stackRoot] } }));
    const enginePort = await started.#listen();
    const script = require.resolve("@pulumi/pulumi/cmd/dynamic-provider");
    started.#process = spawn(process.execPath, [script, `127.0.0.1:${enginePort}`], {
      cwd,
      stdio: ["ignore", "pipe", "ignore"],
      env: {
        ...process.env,
        PULUMI_CONFIG: "{}",
        PULUMI_NODEJS_PROJECT: "test",
        PATH: `${cwd}:${process.env.PATH}`,
      },
    });
    const output = createInterface({ input: started.#process.stdout as NodeJS.ReadableStream });
    const [port] = (await once(output, "line")) as [string];
    started.#client = new providerGrpc.ResourceProviderClient(
      `127.0.0.1:${port}`,
      grpc.credentials.createInsecure(),
    ) as unknown as providerGrpc.IResourceProviderClient;
    const request = new provider.ConfigureRequest();
    request.setArgs(struct(config));
    await started.#call<provider.ConfigureResponse>("configure", request);
    return started;
  }

  /** Checks a new resource, or one in the state with the given arguments. */
  async check(
    type: string,
    news: Properties,
    olds?: Properties,
  ): Promise<{ inputs: Properties; failures: string[] }> {
    const request = new provider.CheckRequest();
    request.setOlds(olds ? this.#properties(type, olds) : struct({}));
    request.setNews(this.#properties(type, news));
    const reply = await this.#call<provider.CheckResponse>("check", request);
    const failures = reply
      .getFailuresList()
      .map((failure) => `${failure.getProperty()}${failure.getReason()}`);
    return { inputs: plain(reply.getInputs()), failures };
  }

  async diff(type: string, id: string, olds: Properties, news: Properties): Promise<Diff> {
    const request = new provider.DiffRequest();
    request.setId(id);
    request.setOlds(this.#properties(type, olds));
    request.setNews(this.#properties(type, news));
    const reply = await this.#withRow(type, id, request.getOlds(), () =>
      this.#call<provider.DiffResponse>("diff", request),
    );
    const changes = reply.getChanges() === provider.DiffResponse.DiffChanges.DIFF_SOME;
    return { changes, replaces: reply.getReplacesList() };
  }

  async create(type: string, news: Properties): Promise<{ id: string; state: Properties }> {
    const request = new provider.CreateRequest();
    request.setProperties(this.#properties(type, news));
    const reply = await this.#call<provider.CreateResponse>("create", request);
    const made = { id: reply.getId(), state: plain(reply.getProperties()) };
    this.hold(type, made.id, made.state);
    return made;
  }

  async read(
    type: string,
    id: string,
    state: Properties,
  ): Promise<{ id: string; state: Properties; inputs: Properties }> {
    const request = new provider.ReadRequest();
    request.setId(id);
    request.setProperties(this.#properties(type, state));
    const reply = await this.#withRow(type, id, request.getProperties(), () =>
      this.#call<provider.ReadResponse>("read", request),
    );
    return { id: reply.getId(), state: plain(reply.getProperties()), inputs: plain(reply.getInputs()) };
  }

  async update(type: string, id: string, olds: Properties, news: Properties): Promise<Properties> {
    const request = new provider.UpdateRequest();
    request.setId(id);
    request.setOlds(this.#properties(type, olds));
    request.setNews(this.#properties(type, news));
    const reply = await this.#withRow(type, id, request.getOlds(), () =>
      this.#call<provider.UpdateResponse>("update", request),
    );
    return plain(reply.getProperties());
  }

  async delete(type: string, id: string, state: Properties): Promise<void> {
    const request = new provider.DeleteRequest();
    request.setId(id);
    request.setProperties(this.#properties(type, state));
    await this.#withRow(type, id, request.getProperties(), () => this.#call("delete", request));
    const row = this.hold(type, id, plain(request.getProperties()));
    this.rows.splice(this.rows.indexOf(row), 1);
  }

  /** Calls the provider while the state contains a resource. */
  async #withRow<T>(
    type: string,
    id: string,
    properties: Struct | undefined,
    call: () => Promise<T>,
  ): Promise<T> {
    const count = this.rows.length;
    const row = this.hold(type, id, plain(properties));
    const isNew = this.rows.length > count;
    const resources = [stackRoot, ...this.rows];
    await writeFile(join(this.#directory, "stack.json"), JSON.stringify({ deployment: { resources } }));
    try {
      return await call();
    } finally {
      if (isNew) this.rows.splice(this.rows.indexOf(row), 1);
    }
  }

  /** Number of reads of the state. */
  exports(): number {
    const file = join(this.#directory, "exports");
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
  }

  /** Cancels the provider, as the engine does on Ctrl+C. */
  async cancel(): Promise<void> {
    await this.#call("cancel", new empty.Empty());
  }

  /** Stops the engine without notice, as a kill does. */
  killEngine(): void {
    this.#engine.forceShutdown();
  }

  /** Resolves when the process has exited. */
  async ended(): Promise<void> {
    await once(this.#process, "exit");
    (this.#client as unknown as grpc.Client).close();
    await rm(this.#directory, { recursive: true });
  }

  async stop(): Promise<void> {
    (this.#client as unknown as grpc.Client).close();
    this.#process.kill();
    await once(this.#process, "exit");
    this.#engine.forceShutdown();
    await rm(this.#directory, { recursive: true });
  }

  /** Returns the state entry of a resource, and adds it if it is missing. */
  hold(type: string, id: string, { __urn, __made }: Properties) {
    const urn = String(__urn);
    const found = this.rows.find((row) => row.urn === urn && row.id === id && row.outputs.__made === __made);
    const row = found ?? {
      ...{ urn, id, type: `pulumi-nodejs:dynamic/recommender:${type}` },
      outputs: { __urn, ...(__made !== undefined && { __made }) },
    };
    if (!found) this.rows.push(row);
    return row;
  }

  #properties(type: string, properties: Properties): Struct {
    // Properties with a lifecycle are a state entry, which the engine passes unchanged.
    if (properties.__provider) return struct(properties);
    const __provider = stub(type);
    const __urn = `urn:pulumi:test::test::pulumi-nodejs:dynamic/recommender:${type}::${properties.name ?? "unnamed"}`;
    return struct({ __provider, __urn, ...properties });
  }

  #call<Reply>(method: string, request: unknown): Promise<Reply> {
    const client = this.#client as unknown as Record<
      string,
      (request: unknown, callback: (error: Error | null, reply: Reply) => void) => void
    >;
    return new Promise((resolve, reject) => {
      client[method](request, (error, reply) => (error ? reject(error) : resolve(reply)));
    });
  }

  async #listen(): Promise<number> {
    const log: grpc.handleUnaryCall<
      { getSeverity(): number; getMessage(): string; getUrn(): string },
      unknown
    > = ({ request }, callback) => {
      const severity = (["debug", "info", "warning", "error"] as const)[request.getSeverity()];
      this.messages.push({ severity, message: request.getMessage(), urn: request.getUrn() });
      callback(null, new empty.Empty());
    };
    const refuse = (_: unknown, callback: (error: Error) => void) =>
      callback(new Error("not part of this test"));
    const service = engineGrpc as unknown as { EngineService: grpc.ServiceDefinition };
    const names = Object.keys(service.EngineService);
    const handlers = Object.fromEntries(names.map((name) => [name, name === "log" ? log : refuse]));
    this.#engine.addService(service.EngineService, handlers as grpc.UntypedServiceImplementation);
    return new Promise((resolve, reject) => {
      this.#engine.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
        error ? reject(error) : resolve(port),
      );
    });
  }
}

/** Returns the state in an error of create or update, which the engine stores. */
export function partialState(error: { metadata: grpc.Metadata }): {
  id: string;
  state: Properties;
  reasons: string[];
} {
  const [details] = error.metadata.get("grpc-status-details-bin");
  const [any] = status.Status.deserializeBinary(details as Buffer).getDetailsList();
  const detail = provider.ErrorResourceInitFailed.deserializeBinary(any.getValue_asU8());
  return {
    ...{ id: detail.getId(), state: plain(detail.getProperties()) },
    reasons: detail.getReasonsList(),
  };
}

function struct(properties: Properties): Struct {
  return Struct.fromJavaScript(properties as Record<string, JavaScriptValue>);
}

function plain(value: Struct | undefined): Properties {
  return (value?.toJavaScript() ?? {}) as Properties;
}
