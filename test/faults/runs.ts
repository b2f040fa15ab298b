import { setTimeout as sleep } from "node:timers/promises";
import type * as pulumi from "@pulumi/pulumi";
import { Client, endpointToken } from "../../client/client";
import { readSettings } from "../../client/settings";
import * as recommender from "../../provider";
import { stub } from "../../provider/dynamic/stub";
import type { StackRow } from "../../provider/run/row";
import { Run, useSession } from "../../provider/run/session";
import { TestClock } from "../client/server";

type Properties = Record<string, unknown>;
type Lifecycle = Required<pulumi.dynamic.ResourceProvider>;

/** A clock on which hours pass in no time, but not so fast that a job of the service has no chance to end. */
export class BriskClock extends TestClock {
  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await super.sleep(ms, signal);
    await sleep(2);
  }
}

/** A resource as the engine keeps it. */
interface Kept {
  readonly id: string;
  readonly state: Properties;
  /** Whether an error left it, so that the next run changes it whatever its arguments. */
  readonly partial: boolean;
}

/** A stack whose lifecycles run here, in the order in which the engine runs them. */
export class LocalStack {
  readonly clock = new BriskClock();
  readonly #kept = new Map<string, Kept>();
  #client: Client | undefined;

  constructor(private readonly config: Record<string, string>) {}

  /** Begins another run: what an earlier one knew is known no more, but for what was written down. */
  async begin({ bodyMs = 60_000 } = {}): Promise<void> {
    for (const type of Object.values(recommender)) {
      if (!("lifecycle" in type)) continue;
      const get = (key: string) => this.config[key];
      void (type.lifecycle as Lifecycle).configure({ config: { get } as never });
    }
    const settings = readSettings((key) => this.config[`recommender:${key}`], {});
    const { baseUrl, apiKey = "", tokenUrl: url = "", clientId = "", clientSecret = "" } = settings;
    const token = endpointToken({ url, clientId, clientSecret });
    const { clock } = this;
    const client = new Client({ baseUrl, apiKey, token, clock, timeouts: { bodyMs } });
    await this.close();
    this.#client = client;
    // Each resource stands for a stack of its own: several deploy to one project.
    const rows = async (of: StackRow) => [of];
    useSession({ settings, client, clock, run: new Run({ rows }) });
    // The address is known to be that of the service.
    await client.honoursKeys();
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }

  /** Makes a resource what is declared. */
  async up(type: string, name: string, args: Properties): Promise<Kept> {
    const { check, diff, create, update, delete: remove } = lifecycleOf(type);
    const { inputs, failures } = await check({}, { ...args, ...this.#own(type, name) });
    if (failures?.length) throw new Error(JSON.stringify(failures));
    const old = this.#kept.get(`${type} ${name}`);
    const keep = (id: string, state: Properties, partial = false) => {
      const kept = { id, state: { ...state, ...this.#own(type, name) }, partial };
      this.#kept.set(`${type} ${name}`, kept);
      return kept;
    };
    const keepPartial = (error: Error & { id?: string; properties?: Properties }): never => {
      if (error.id !== undefined && error.properties) keep(error.id, error.properties, true);
      throw error;
    };
    const make = async () => {
      const { id, outs } = await create(inputs).catch(keepPartial);
      return keep(id, outs);
    };
    if (!old) return make();
    const { changes, replaces = [] } = await diff(old.id, old.state, inputs);
    if (replaces.length > 0) {
      const made = await make();
      await remove(old.id, old.state);
      return made;
    }
    if (!changes && !old.partial) return old;
    const { outs } = await update(old.id, old.state, inputs).catch(keepPartial);
    return keep(old.id, outs as Properties);
  }

  /** Reads a resource; undefined when it is gone. */
  async refresh(type: string, name: string): Promise<Properties | undefined> {
    const { id, state } = this.#kept.get(`${type} ${name}`) as Kept;
    const read = await lifecycleOf(type).read(id, state);
    return read.id === "" ? undefined : (read.props as Properties);
  }

  async destroy(type: string, name: string): Promise<void> {
    const { id, state } = this.#kept.get(`${type} ${name}`) as Kept;
    await lifecycleOf(type).delete(id, state);
    this.#kept.delete(`${type} ${name}`);
  }

  #own(type: string, name: string): Properties {
    const __urn = `urn:pulumi:faults::test::pulumi-nodejs:dynamic/recommender:${type}::${name}`;
    return { __provider: stub(type), __urn };
  }
}

function lifecycleOf(type: string): Lifecycle {
  const named = recommender as unknown as Record<string, { lifecycle: Lifecycle }>;
  return (named[type] as { lifecycle: Lifecycle }).lifecycle;
}
