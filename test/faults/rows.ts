import { randomUUID } from "node:crypto";
import type { BindingName } from "./bindings";

/** Arguments or state of a resource. */
export type Properties = Record<string, unknown>;

/** Resource types of the test programs, each after its dependencies. */
export const kinds = [
  ...(["UserDataset", "ItemDataset", "EventDataset", "Project", "Algorithm"] as const),
  ...(["TrainingJob", "Model", "DeploymentJob", "Deployment"] as const),
] as const;

/** Resource type of the test programs. */
export type Kind = (typeof kinds)[number];

/** Returns the state of a resource by kind and name. */
export type Lookup = (kind: Kind, name: string) => Properties;

/** A resource in the state. */
export interface Held {
  readonly kind: Kind;
  readonly name: string;
  readonly id: string;
  /** Binding of its last run, which also deletes it. */
  readonly binding: BindingName;
  /** Checked arguments. */
  readonly inputs: Properties;
  readonly state: Properties;
  /** Whether its last step failed halfway. */
  readonly broken: boolean;
  /** Keys of its dependencies. */
  readonly dependencies: readonly string[];
}

/** Returns the key of a resource in the state. */
export function keyOf({ kind, name }: { readonly kind: Kind; readonly name: string }): string {
  return `${kind} ${name}`;
}

/** Dependents before what they depend on. */
export const byDependency = (a: Held, b: Held) => kinds.indexOf(b.kind) - kinds.indexOf(a.kind);

/** Unique name of a stack. */
export function newStack(): string {
  return `s${randomUUID().slice(0, 8)}`;
}

/** State of a stack, with the commands of `pulumi state`. */
export class Rows {
  /** Current resources, in order of creation. */
  readonly held = new Map<string, Held>();
  /** Replaced resources that wait for deletion. */
  replaced: Held[] = [];
  /** All ids that were ever in the state. */
  readonly everHeld = new Set<unknown>();

  /** Returns all entries, including those that wait for deletion, like `pulumi stack export`. */
  all(): Held[] {
    return [...this.held.values(), ...this.replaced];
  }

  /** Returns the state of a resource. */
  of: Lookup = (kind, name) => {
    const resource = this.held.get(keyOf({ kind, name }));
    if (!resource) throw new Error(`${kind} ${name} is not held`);
    return { ...resource.state, id: resource.id };
  };

  /** Stores a resource, and replaces its previous entry. */
  write(resource: Held, old?: Held): void {
    if (old && old.name !== resource.name) this.#move(keyOf(old), keyOf(resource));
    this.held.set(keyOf(resource), resource);
    for (const value of [resource.id, ...Object.values(resource.state)]) this.everHeld.add(value);
  }

  /** Removes an entry that waits for deletion. */
  remove(resource: Held): void {
    this.replaced = this.replaced.filter((other) => other !== resource);
    if (this.held.get(keyOf(resource)) === resource) this.held.delete(keyOf(resource));
  }

  /** Runs `pulumi state delete --target-dependents`. Returns the removed entries. */
  forget(key: string): Held[] {
    const gone = new Set([key, ...this.dependents([key])]);
    const rows = [...this.held.values()].filter((row) => gone.has(keyOf(row)));
    for (const row of rows) this.held.delete(keyOf(row));
    return rows;
  }

  /** Runs `pulumi state rename`. */
  rename(key: string, name: string): void {
    const row = this.held.get(key);
    if (row && !this.held.has(keyOf({ ...row, name }))) this.write({ ...row, name }, row);
  }

  /** Runs `pulumi stack export`. */
  export(): readonly [Held[], Held[]] {
    return [[...this.held.values()], [...this.replaced]];
  }

  /** Runs `pulumi stack import`. Returns the removed entries. */
  import([held, replaced]: ReturnType<Rows["export"]>): Held[] {
    const kept = new Set([...held, ...replaced].map(({ id }) => id));
    const lost = this.all().filter(({ id }) => !kept.has(id));
    this.held.clear();
    for (const row of held) this.held.set(keyOf(row), row);
    this.replaced = [...replaced];
    return lost;
  }

  /** Returns the keys of all dependents, according to the state. */
  dependents(keys: Iterable<string>): Set<string> {
    return closure(keys, (key) =>
      [...this.held.values()].filter(({ dependencies }) => dependencies.includes(key)).map(keyOf),
    );
  }

  /** Returns the keys of all dependencies, according to the state. */
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
