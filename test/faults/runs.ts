import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../../client/client";
import { stub } from "../../provider/dynamic/stub";
import type { StateEntry } from "../../provider/run/state-entry";
import { TestClock } from "../client/server";
import { type BindingName, type Bindings, type BoundLifecycle, passed } from "./bindings";

type Properties = Record<string, unknown>;

/** Clock that is fast, but slow enough for a job of the service to end. */
export class BriskClock extends TestClock {
  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await super.sleep(ms, signal);
    await sleep(2);
  }
}

/** Resource in the engine's state. */
interface Kept {
  readonly id: string;
  readonly inputs: Properties;
  readonly state: Properties;
  /** Whether a step failed halfway, so the next run updates it. */
  readonly partial: boolean;
}

/** Stack that calls the lifecycles in the engine's order. */
export class LocalStack {
  readonly clock = new BriskClock();
  /** State entries of other stacks in the backend. */
  others: readonly StateEntry[] = [];
  readonly #kept = new Map<string, Kept>();
  /** Binding of the run. */
  binding: BindingName = "dynamic";
  #client: Client | undefined;

  constructor(
    private readonly config: Record<string, string>,
    private readonly bindings: Bindings,
  ) {}

  /** Starts a new run without the memory of the previous one. The journal stays. */
  async begin(binding: BindingName, { bodyMs = 60_000 } = {}): Promise<void> {
    const { clock, config } = this;
    await this.close();
    this.binding = binding;
    // Each resource is in a separate stack, because several deploy to one project.
    const rows = async (of: StateEntry) => [of, ...this.others];
    this.#client = await this.bindings.of(binding).begin({ config, clock, rows, timeouts: { bodyMs } });
    // The address is the one of the service.
    await this.#client.honoursKeys();
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }

  /** Creates or updates a resource. */
  async up(type: string, name: string, args: Properties): Promise<Kept> {
    const { check, diff, create, update, delete: remove } = this.#lifecycleOf(type, name);
    const old = this.#kept.get(`${type} ${name}`);
    const own = this.binding === "dynamic" ? this.#own(type, name) : {};
    const { inputs, failures } = await check(old?.inputs ?? {}, passed({ ...args, ...own }));
    if (failures.length > 0) throw new Error(JSON.stringify(failures));
    const keep = (id: string, state: Properties, partial = false) => {
      const kept = { id, inputs, state: { ...state, ...this.#own(type, name) }, partial };
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
    const { changes, replaces } = await diff(old.id, old.state, inputs);
    if (replaces.length > 0) {
      const made = await make();
      await remove(old.id, old.state);
      return made;
    }
    if (!changes && !old.partial) return old;
    const { outs } = await update(old.id, old.state, inputs).catch(keepPartial);
    return keep(old.id, outs);
  }

  /** Reads a resource. Returns undefined if it no longer exists. */
  async refresh(type: string, name: string): Promise<Properties | undefined> {
    const { id, state, inputs } = this.#kept.get(`${type} ${name}`) as Kept;
    const read = await this.#lifecycleOf(type, name).read(id, state, inputs);
    return read.id === "" ? undefined : read.props;
  }

  /** Reads an existing resource and stores the result, like `pulumi refresh`. */
  async keepRefreshed(type: string, name: string): Promise<void> {
    const kept = this.#kept.get(`${type} ${name}`) as Kept;
    const { props = {}, inputs = {} } = await this.#lifecycleOf(type, name).read(
      kept.id,
      kept.state,
      kept.inputs,
    );
    const own = this.#own(type, name);
    this.#kept.set(`${type} ${name}`, {
      ...kept,
      inputs: passed(inputs),
      state: { ...passed(props), ...own },
    });
  }

  async destroy(type: string, name: string): Promise<void> {
    const { id, state } = this.#kept.get(`${type} ${name}`) as Kept;
    await this.#lifecycleOf(type, name).delete(id, state);
    this.#kept.delete(`${type} ${name}`);
  }

  #lifecycleOf(type: string, name: string): BoundLifecycle {
    return this.bindings.of(this.binding).lifecycleOf(urnOf(type, name));
  }

  #own(type: string, name: string): Properties {
    return { __provider: stub(type), __urn: urnOf(type, name) };
  }
}

function urnOf(type: string, name: string): string {
  return `urn:pulumi:faults::test::pulumi-nodejs:dynamic/recommender:${type}::${name}`;
}
