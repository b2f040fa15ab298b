import { randomUUID } from "node:crypto";
import type { BindingName } from "./bindings";

/** What a resource is declared with, or has become. */
export type Properties = Record<string, unknown>;

/** Kinds of resource that the programs of these tests declare, each after what it may depend on. */
export const kinds = [
  ...(["UserDataset", "ItemDataset", "EventDataset", "Project", "Algorithm"] as const),
  ...(["TrainingJob", "Model", "DeploymentJob", "Deployment"] as const),
] as const;

/** One of them. */
export type Kind = (typeof kinds)[number];

/** What a resource has become, by its kind and name. */
export type Lookup = (kind: Kind, name: string) => Properties;

/** A resource in the state. */
export interface Held {
  readonly kind: Kind;
  readonly name: string;
  readonly id: string;
  /** Binding of its last run, which also deletes it. */
  readonly binding: BindingName;
  /** What it was declared with, as its lifecycle has checked it. */
  readonly inputs: Properties;
  readonly state: Properties;
  /** Whether its last creation or change ended in an error that kept it. */
  readonly broken: boolean;
  /** Keys of what it stands on. */
  readonly dependencies: readonly string[];
}

/** The key of a resource in the state. */
export function keyOf({ kind, name }: { readonly kind: Kind; readonly name: string }): string {
  return `${kind} ${name}`;
}

/** Dependents before what they depend on. */
export const byDependency = (a: Held, b: Held) => kinds.indexOf(b.kind) - kinds.indexOf(a.kind);

/** A name that no other stack has. */
export function newStack(): string {
  return `s${randomUUID().slice(0, 8)}`;
}

/** The state of a stack, which the commands of `pulumi state` change too. */
export class Rows {
  /** What is held now, in the order of its making. */
  readonly held = new Map<string, Held>();
  /** What was replaced and is still to be deleted. */
  replaced: Held[] = [];
  /** Every id that the state ever held. */
  readonly everHeld = new Set<unknown>();

  /** All rows, those that are still to be deleted too, as `pulumi stack export` shows them. */
  all(): Held[] {
    return [...this.held.values(), ...this.replaced];
  }

  /** What a resource has become. */
  of: Lookup = (kind, name) => {
    const resource = this.held.get(keyOf({ kind, name }));
    if (!resource) throw new Error(`${kind} ${name} is not held`);
    return { ...resource.state, id: resource.id };
  };

  /** Writes a resource down, in place of what it was. */
  write(resource: Held, old?: Held): void {
    if (old && old.name !== resource.name) this.#move(keyOf(old), keyOf(resource));
    this.held.set(keyOf(resource), resource);
    for (const value of [resource.id, ...Object.values(resource.state)]) this.everHeld.add(value);
  }

  /** What was to be deleted is. */
  remove(resource: Held): void {
    this.replaced = this.replaced.filter((other) => other !== resource);
    if (this.held.get(keyOf(resource)) === resource) this.held.delete(keyOf(resource));
  }

  /** `pulumi state delete --target-dependents`: what is forgotten with it. */
  forget(key: string): Held[] {
    const gone = new Set([key, ...this.dependents([key])]);
    const rows = [...this.held.values()].filter((row) => gone.has(keyOf(row)));
    for (const row of rows) this.held.delete(keyOf(row));
    return rows;
  }

  /** `pulumi state rename`. */
  rename(key: string, name: string): void {
    const row = this.held.get(key);
    if (row && !this.held.has(keyOf({ ...row, name }))) this.write({ ...row, name }, row);
  }

  /** `pulumi stack export`. */
  export(): readonly [Held[], Held[]] {
    return [[...this.held.values()], [...this.replaced]];
  }

  /** `pulumi stack import`: what is forgotten by it. */
  import([held, replaced]: ReturnType<Rows["export"]>): Held[] {
    const kept = new Set([...held, ...replaced].map(({ id }) => id));
    const lost = this.all().filter(({ id }) => !kept.has(id));
    this.held.clear();
    for (const row of held) this.held.set(keyOf(row), row);
    this.replaced = [...replaced];
    return lost;
  }

  /** Keys of everything that stands on these, by the state. */
  dependents(keys: Iterable<string>): Set<string> {
    return closure(keys, (key) =>
      [...this.held.values()].filter(({ dependencies }) => dependencies.includes(key)).map(keyOf),
    );
  }

  /** Keys of everything that these stand on, by the state. */
  dependencies(keys: Iterable<string>): Set<string> {
    return closure(keys, (key) => this.held.get(key)?.dependencies ?? []);
  }

  #move(before: string, after: string): void {
    this.held.delete(before);
    for (const [key, row] of this.held) {
      if (!row.dependencies.includes(before)) continue;
      const dependencies = row.dependencies.map((each) => (each === before ? after : each));
      this.held.set(key, { ...row, dependencies });
    }
  }
}

function closure(keys: Iterable<string>, next: (key: string) => readonly string[]): Set<string> {
  const found = new Set<string>();
  const open = [...keys];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (const other of next(key)) {
      if (found.has(other)) continue;
      found.add(other);
      open.push(other);
    }
  }
  return found;
}
