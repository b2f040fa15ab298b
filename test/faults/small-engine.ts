import { randomUUID } from "node:crypto";
import {
  Algorithm,
  Deployment,
  DeploymentJob,
  EventDataset,
  ItemDataset,
  Model,
  Project,
  TrainingJob,
  UserDataset,
} from "../../provider";
import { Client, endpointToken } from "../../provider/client";
import type { Clock } from "../../provider/clock";
import { confirm } from "../../provider/creation-journal";
import { Run, useSession } from "../../provider/session";
import { readSettings } from "../../provider/settings";
import { rowOf } from "../../provider/stack-state";

type Properties = Record<string, unknown>;

/** The resources that the programs of these tests declare, each after what it may depend on. */
const resources = {
  ...{ UserDataset, ItemDataset, EventDataset, Project, Algorithm },
  ...{ TrainingJob, Model, DeploymentJob, Deployment },
};

/** Kinds of resource that the programs of these tests declare. */
export type Kind = keyof typeof resources;

/** All of them, each after what it may depend on. */
export const kinds = Object.keys(resources) as Kind[];

/** What a resource has become, by its kind and name. */
export type Lookup = (kind: Kind, name: string) => Properties;

/** A resource of a program; its arguments may need what resources before it have become. */
export interface Declared {
  readonly kind: Kind;
  readonly name: string;
  /** Names that it may have had before. */
  readonly aliases?: readonly string[];
  args(of: Lookup): Properties;
}

/** A resource in the state. */
export interface Held {
  readonly kind: Kind;
  readonly name: string;
  readonly id: string;
  readonly state: Properties;
  /** Whether its last creation or change ended in an error that kept it. */
  readonly broken: boolean;
}

/** The run was killed: nothing of it goes on, and nothing more is written down. */
export class Killed extends Error {}

/** Time as the lifecycles see it, a hundred times as fast. */
const fastClock: Clock = {
  now: () => Date.now() * 100,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms / 100, 50))),
};

/** A client whose process can be killed: calls under way break off, and whoever waits for one waits for ever. */
class MortalClient extends Client {
  readonly #end = new AbortController();

  die(): void {
    this.#end.abort(new Error("killed"));
  }

  override async call(...[route, input, options]: Parameters<Client["call"]>): Promise<never> {
    const { signal } = this.#end;
    const never = () => new Promise<never>(() => undefined);
    if (signal.aborted) return never();
    try {
      const reply = await super.call(route, input, { ...options, signal });
      return signal.aborted ? never() : (reply as never);
    } catch (error) {
      if (signal.aborted) return never();
      throw error;
    }
  }
}

/**
 * Runs the lifecycles in the order and with the rules of the engine, and keeps the state as the engine does, so that
 * thousands of runs can be tried. What the engine itself does when it is killed is tried in test/engine.
 */
export class SmallEngine {
  /** What is held now, in the order of its making. */
  readonly held = new Map<string, Held>();
  /** What was replaced and is still to be deleted. */
  #replaced: Held[] = [];
  /** Every id that the state ever held. */
  readonly everHeld = new Set<unknown>();
  /** Is told of each thing that was made. */
  onMade: (made: Held) => Promise<void> = async () => undefined;
  /** Whether the program lives to hear of each id that the state holds. */
  programHears = true;
  #kill: (() => void) | undefined;
  #clients: MortalClient[] = [];

  constructor(
    readonly stack: string,
    private readonly service: { readonly url: string; readonly key: string },
  ) {}

  /** Kills the run that is under way. */
  kill(): void {
    this.#kill?.();
  }

  /** Makes everything as declared; the errors of what failed, in the order they came. */
  up(
    program: readonly Declared[],
    { replace = () => false }: { replace?: (resource: Declared) => boolean } = {},
  ): Promise<Error[]> {
    return this.#mortally(async () => {
      const errors: Error[] = [];
      const declared = new Set(program.map(keyOf));
      for (const level of levelsOf(program)) {
        const outcomes = await Promise.allSettled(
          level.map((resource) => this.#step(resource, replace(resource))),
        );
        errors.push(...outcomes.flatMap((outcome) => (outcome.status === "rejected" ? outcome.reason : [])));
        if (errors.length > 0) return errors;
      }
      const leaving = [...this.held.values()].filter((resource) => !declared.has(keyOf(resource)));
      for (const resource of [...leaving, ...this.#replaced].sort(byDependency)) {
        try {
          await lifecycleOf(resource.kind).delete?.(resource.id, resource.state);
          this.#replaced = this.#replaced.filter((other) => other !== resource);
          if (this.held.get(keyOf(resource)) === resource) this.held.delete(keyOf(resource));
        } catch (error) {
          return [error as Error];
        }
      }
      return [];
    });
  }

  /** Looks at everything that is held. */
  refresh(): Promise<Error[]> {
    return this.#mortally(async () => {
      for (const resource of [...this.held.values()]) {
        const read = await lifecycleOf(resource.kind).read?.(resource.id, resource.state);
        if (!read) continue;
        if (read.id === "") this.held.delete(keyOf(resource));
        else this.#write({ ...resource, id: read.id as string, state: passed(read.props ?? {}) });
      }
      return [];
    });
  }

  /** What a resource has become. */
  of: Lookup = (kind, name) => {
    const resource = this.held.get(keyOf({ kind, name }));
    if (!resource) throw new Error(`${kind} ${name} is not held`);
    return { ...resource.state, id: resource.id };
  };

  async close(): Promise<void> {
    for (const client of this.#clients) client.die();
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  /** Each run is a process of its own, that remembers nothing of the one before. */
  async #mortally<T>(work: () => Promise<T>): Promise<T> {
    const { url, key } = this.service;
    const config: Record<string, string> = {
      ...{ baseUrl: url, apiKey: key, clientId: "test", clientSecret: key, jobPollMs: "20" },
      tokenUrl: `${url}/oauth/token`,
    };
    const settings = readSettings((name) => config[name], {});
    const token = endpointToken({ url: `${url}/oauth/token`, clientId: "test", clientSecret: key });
    const client = new MortalClient({ baseUrl: url, apiKey: key, token, clock: fastClock });
    this.#clients.push(client);
    const rows = async () =>
      [...this.held.values(), ...this.#replaced].map(({ kind, id, state }) => rowOf(kind, id, state));
    useSession({ settings, client, clock: fastClock, run: new Run({ rows }) });
    for (const kind of kinds) {
      const get = (name: string) => config[name.replace("recommender:", "")];
      await lifecycleOf(kind).configure?.({ config: { get, require: get } as never });
    }
    const end = new Promise<never>((_, reject) => {
      this.#kill = () => {
        client.die();
        reject(new Killed());
      };
    });
    return Promise.race([work(), end]).finally(() => {
      this.#kill = undefined;
    });
  }

  async #step(declared: Declared, replace: boolean): Promise<void> {
    const { kind, name } = declared;
    const lifecycle = lifecycleOf(kind);
    const old = this.#oldOf(declared);
    const given = passed({ ...declared.args(this.of), __urn: this.urnOf(declared) });
    const checked = await lifecycle.check?.({}, given);
    if (!checked || checked.failures?.length) throw new Error(JSON.stringify(checked));
    const news = passed(checked.inputs as Properties);
    // What is told to be replaced is not compared first.
    const diff =
      old &&
      (replace ? { changes: true, replaces: ["id"] } : await lifecycle.diff?.(old.id, old.state, news));
    if (old && !diff?.changes && !old.broken) {
      if (old.name !== name) this.#write({ ...old, name }, old);
      return;
    }
    try {
      if (old && !diff?.replaces?.length) {
        const updated = await lifecycle.update?.(old.id, old.state, news);
        this.#write({ kind, name, id: old.id, state: passed(updated?.outs ?? {}), broken: false }, old);
        return;
      }
      const { id, outs } = await lifecycle.create(news);
      if (old) this.#replaced.push(old);
      const made = { kind, name, id, state: passed(outs ?? {}), broken: false };
      this.#write(made, old);
      await this.onMade(made);
    } catch (error) {
      const { id, properties } = error as { id?: string; properties?: Properties };
      if (id && properties) {
        if (old && diff?.replaces?.length) this.#replaced.push(old);
        this.#write({ kind, name, id, state: passed(properties), broken: true }, old);
      }
      throw error;
    }
  }

  urnOf({ kind, name }: { kind: Kind; name: string }): string {
    return `urn:pulumi:${this.stack}::small::pulumi-nodejs:dynamic/recommender:${kind}::${name}`;
  }

  /** What the state holds under the name of a resource, or else under one that it had before. */
  #oldOf({ kind, name, aliases = [] }: Declared): Held | undefined {
    const names = [name, ...aliases].filter((each) => this.held.has(keyOf({ kind, name: each })));
    return names[0] === undefined ? undefined : this.held.get(keyOf({ kind, name: names[0] }));
  }

  #write(resource: Held, old?: Held): void {
    if (old && old.name !== resource.name) this.held.delete(keyOf(old));
    this.held.set(keyOf(resource), resource);
    for (const value of [resource.id, ...Object.values(resource.state)]) this.everHeld.add(value);
    if (this.programHears && !resource.broken) confirm(this.urnOf(resource), new Set([resource.id]));
  }
}

const byDependency = (a: Held, b: Held) => kinds.indexOf(b.kind) - kinds.indexOf(a.kind);

/** Datasets do not depend on each other; everything else does on what is before it. */
function levelsOf(program: readonly Declared[]): Declared[][] {
  const level = ({ kind }: Declared) => Math.max(2, kinds.indexOf(kind));
  const numbers = [...new Set(program.map(level))].sort((a, b) => a - b);
  return numbers.map((number) => program.filter((resource) => level(resource) === number));
}

function keyOf({ kind, name }: { kind: Kind; name: string }): string {
  return `${kind} ${name}`;
}

function lifecycleOf(kind: Kind) {
  return resources[kind].lifecycle;
}

/** Properties as they come out of the engine: without what is undefined, and without null. */
function passed(properties: Properties): Properties {
  const plain = JSON.parse(JSON.stringify(properties)) as Properties;
  return Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== null));
}

/** A name that no other stack has. */
export function newStack(): string {
  return `s${randomUUID().slice(0, 8)}`;
}
