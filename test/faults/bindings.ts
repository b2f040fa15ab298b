import type { ServiceError } from "@grpc/grpc-js";
import * as provider from "@pulumi/pulumi/proto/provider_pb";
import * as status from "@pulumi/pulumi/proto/status_pb";
import type { ClientOptions } from "../../client/client";
import type { Clock } from "../../client/clock";
import type { Lifecycle } from "../../provider/lifecycle/protocol";
import { listen } from "../../provider/plugin/server";
import { fromStruct } from "../../provider/plugin/values";
import type { Urn } from "../../provider/run/engine";
import type { StackState } from "../../provider/run/stack-state";
import type { Properties } from "../../provider/run/state-entry";
import { canonicalUrn, partsOf, pluginUrn, resourceTypeOf } from "../../provider/run/urn";
import { PluginConnection, shortKeys } from "../provider/plugin/plugin-connection";
import type { MortalClient } from "./mortal-client";
import * as code from "./provider-code";

/** Binding of a run. */
export type BindingName = "dynamic" | "plugin";

/** Both of them. */
export const bindingNames: readonly BindingName[] = ["dynamic", "plugin"];

/** Environment of a provider process. */
interface Surroundings {
  readonly config: Record<string, string>;
  readonly clock: Clock;
  readonly rows: StackState["entries"];
  readonly timeouts?: ClientOptions["timeouts"];
  /** Whether later processes reuse its tokens. */
  readonly keepsTokens?: boolean;
}

/** Receives the messages of lifecycles. The next message replaces an ephemeral one. */
export type Hear = (urn: Urn, message: string, isEphemeral: boolean) => void;

/** Lifecycle as the engine calls it. The plugin also gets the inputs of a read. */
export type BoundLifecycle = Omit<Lifecycle, "read"> & {
  read(id: string, state?: Properties, inputs?: Properties): ReturnType<Lifecycle["read"]>;
};

/** A backend without other stacks that use the objects of this one, and without renamed stacks. */
export function stackState(entries: StackState["entries"]): StackState {
  const all = () => entries({ urn: "", type: "", id: "", made: undefined });
  return {
    entries,
    entriesNamed: async (urn) =>
      (await all()).filter((entry) => canonicalUrn(entry.urn) === canonicalUrn(urn)),
    allStacks: async () => ({ entries: await all(), lineages: new Map(), unread: [] }),
    stacks: async () => ({ has: () => true }) as unknown as ReadonlySet<string>,
  };
}

/** Calls the lifecycles in a dynamic provider's process or through the plugin protocol. */
abstract class Binding {
  constructor(
    protected readonly code: typeof import("./provider-code"),
    hear: Hear,
  ) {
    code.setBinding({
      ...{ connect: () => {}, engineAddress: () => undefined },
      log: async (severity, message, urn, isEphemeral) => {
        if (severity !== "debug") hear(urn && canonicalUrn(urn), message, isEphemeral);
      },
    });
  }

  /** Starts a new process without the memory of the previous one, and returns its client. */
  async begin({ config, clock, rows, timeouts, keepsTokens }: Surroundings): Promise<MortalClient> {
    const { endpointToken, lasting, MortalClient, readSettings, Run, useSession } = this.code;
    const settings = readSettings((key) => config[`recommender:${key}`], {});
    const { baseUrl, apiKey = "", tokenUrl: url = "", clientId = "", clientSecret = "" } = settings;
    const source = endpointToken({ url, clientId, clientSecret });
    const token = keepsTokens ? lasting(source) : source;
    const client = new MortalClient({ baseUrl, apiKey, token, clock, ...(timeouts && { timeouts }) });
    useSession({ settings, client, clock, run: new Run(stackState(rows)) });
    await this.start(config);
    return client;
  }

  /** Returns the lifecycle of a resource, as the engine calls it. */
  abstract lifecycleOf(urn: string): BoundLifecycle;
  protected abstract start(config: Record<string, string>): Promise<void>;
  abstract close(): void;

  protected definitionAt(urn: string): Lifecycle {
    return this.code.definitions[resourceTypeOf(partsOf(urn).type) ?? ""] as Lifecycle;
  }
}

class Dynamic extends Binding {
  constructor(hear: Hear) {
    // The plugin has the first copy, because it loads some modules later, which must be from the same copy.
    let copy = code;
    jest.isolateModules(() => {
      copy = require("./provider-code");
    });
    super(copy, hear);
  }

  lifecycleOf(urn: string): Lifecycle {
    return this.definitionAt(urn);
  }

  protected async start(config: Record<string, string>): Promise<void> {
    const get = (key: string) => config[key];
    for (const definition of Object.values(this.code.definitions))
      await definition.configure({ config: { get } });
  }

  close(): void {}
}

class Plugin extends Binding {
  #config: Record<string, string> = {};
  #process: Promise<{ readonly connection: PluginConnection; stop(): void }> | undefined;

  lifecycleOf(dynamicUrn: string): BoundLifecycle {
    const urn = pluginUrn(dynamicUrn);
    const ask = <T>(work: (plugin: PluginConnection) => Promise<T>) => this.#ask(work);
    return {
      ...this.definitionAt(urn),
      check: async (olds, news) => {
        const { inputs, failures } = await ask((plugin) => plugin.check(urn, news, olds));
        return { inputs, failures: failures.map((reason) => ({ property: "", reason })) };
      },
      diff: async (id, olds, news) => {
        const { changes, replaces } = await ask((plugin) => plugin.diff(urn, id, olds, news));
        return { changes, changed: [], replaces };
      },
      create: async (inputs) => {
        const { id, state } = await ask((plugin) => plugin.create(urn, inputs));
        return { id, outs: state };
      },
      read: async (id, state = {}, inputs = {}) => {
        const read = await ask((plugin) => plugin.read(urn, id, state, inputs));
        return { id: read.id, props: read.state, inputs: read.inputs };
      },
      update: async (id, olds, news) => ({ outs: await ask((plugin) => plugin.update(urn, id, olds, news)) }),
      delete: (id, state) => ask((plugin) => plugin.delete(urn, id, state)),
    };
  }

  protected async start(config: Record<string, string>): Promise<void> {
    this.close();
    this.#config = config;
  }

  close(): void {
    void this.#process?.then(({ connection, stop }) => {
      connection.close();
      stop();
    });
    this.#process = undefined;
  }

  /** Starts the plugin on first use, like the engine. */
  async #launch() {
    const { port, stop } = await listen();
    const connection = new PluginConnection();
    connection.connect(port);
    await connection.configure(shortKeys(this.#config));
    return { connection, stop };
  }

  /** Throws the error that the engine shows, with the partial state that it stores. */
  async #ask<T>(work: (plugin: PluginConnection) => Promise<T>): Promise<T> {
    this.#process ??= this.#launch();
    const process = this.#process;
    try {
      return await work((await process).connection);
    } catch (error) {
      // A killed process returns nothing.
      if (process !== this.#process) return new Promise(() => {});
      const { details, metadata } = error as ServiceError;
      const [packed] = metadata.get("grpc-status-details-bin");
      throw Object.assign(new Error(details), packed && partIn(packed as Buffer));
    }
  }
}

function partIn(packed: Buffer): { id: string; properties: object } {
  const [any] = status.Status.deserializeBinary(packed).getDetailsList();
  const part = provider.ErrorResourceInitFailed.deserializeBinary(any?.getValue_asU8() as Uint8Array);
  return { id: part.getId(), properties: fromStruct(part.getProperties()) };
}

/** Both bindings of one stack. */
export class Bindings {
  readonly #all: Readonly<Record<BindingName, Binding>>;

  constructor(hear: Hear = () => {}) {
    this.#all = { dynamic: new Dynamic(hear), plugin: new Plugin(code, hear) };
  }

  of(name: BindingName): Binding {
    return this.#all[name];
  }

  /** Starts a new run. It may need both bindings, because a resource is deleted with its last binding. */
  begin(surroundings: Surroundings): Promise<MortalClient[]> {
    return Promise.all(bindingNames.map((name) => this.of(name).begin(surroundings)));
  }

  close(): void {
    for (const name of bindingNames) this.of(name).close();
  }
}

/** Converts properties like the engine: sorted by name, without undefined and null. */
export function passed(properties: Properties): Properties {
  const plain = JSON.parse(JSON.stringify(properties, byName)) as Properties;
  return Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== null));
}

function byName(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
