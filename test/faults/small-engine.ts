import { AsyncLocalStorage } from "node:async_hooks";
import { eraseStored } from "../../provider/recovery/journal";
import { stateEntryOf } from "../../provider/run/state-entry";
import { pluginUrn } from "../../provider/run/urn";
import { type BindingName, type Bindings, type BoundLifecycle, passed } from "./bindings";
import { type Declared, dependenciesOf, levelsOf } from "./declared";
import { fastClock, type MortalClient } from "./mortal-client";
import { byDependency, type Held, type Kind, keyOf, type Properties, Rows } from "./rows";
import { Refused, type RunOptions, Selection } from "./selection";

/** Error of a killed run, which stores nothing. */
export class Killed extends Error {}

/** Run of a step. */
const runs = new AsyncLocalStorage<{ isDead: boolean }>();

/**
 * Runs the lifecycles and stores the state by the rules of the engine, but fast enough for thousands of runs. The
 * tests in test/engine cover kills of the real engine.
 */
export class SmallEngine extends Rows {
  /** Called for each created object. */
  onMade: (made: Held) => Promise<void> = async () => undefined;
  /** Binding of the next run. */
  binding: BindingName = "dynamic";
  /** Whether the program survives until it gets each id in the state. */
  programHears = true;
  /** Whether the program uses the TypeScript classes, which pass more information than other languages. */
  isTypeScript = true;
  /** Resources that are being deleted. */
  readonly deleting = new Set<Held>();
  /** Number of creates and updates by kind, which limits the number of objects. */
  readonly steps = new Map<Kind, number>();
  #kill: (() => void) | undefined;
  #clients: MortalClient[] = [];

  constructor(
    readonly stack: string,
    private readonly service: { readonly url: string; readonly key: string },
    private readonly bindings: Bindings,
  ) {
    super();
  }

  /** Kills the current run. */
  kill(): void {
    this.#kill?.();
  }

  /** Runs `pulumi up`, and returns the errors in order. */
  up(program: readonly Declared[], options: RunOptions = {}): Promise<Error[]> {
    return this.#mortally(async () => {
      const selection = new Selection(options, this);
      const errors: Error[] = [];
      for (const level of levelsOf(program)) {
        const outcomes = await Promise.allSettled(
          level.map((resource) => this.#register(resource, selection, options)),
        );
        errors.push(...outcomes.flatMap((outcome) => (outcome.status === "rejected" ? outcome.reason : [])));
        if (errors.length > 0 && !options.continueOnError) return errors;
        if (errors.some((error) => error instanceof Refused)) return errors;
      }
      return [...errors, ...(await this.#deleteAll(program, selection, options))];
    });
  }

  /** Refreshes all resources. */
  refresh(): Promise<Error[]> {
    return this.#mortally(async () => {
      for (const resource of [...this.held.values()]) {
        const read = await this.#lifecycleOf(resource).read(resource.id, resource.state, resource.inputs);
        if (read.id === "") this.held.delete(keyOf(resource));
        else
          await this.#keep({
            ...{ ...resource, id: read.id as string, state: passed(read.props ?? {}) },
            inputs: passed(read.inputs ?? resource.inputs),
          });
      }
      return [];
    });
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.die();
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  /** Starts a run in a new process, without the memory of the previous one. */
  async #mortally<T>(work: () => Promise<T>): Promise<T> {
    const { url, key } = this.service;
    const config = {
      ...{
        "recommender:baseUrl": url,
        "recommender:tokenUrl": `${url}/oauth/token`,
        "recommender:apiKey": key,
      },
      ...{ "recommender:clientId": "test", "recommender:clientSecret": key, "recommender:jobPollMs": "500" },
      ...(this.isTypeScript && { "recommender:binding": this.binding }),
    };
    const rows = async () =>
      this.all().map((row) => ({
        ...{ ...stateEntryOf(row.kind, row.id, row.state), urn: this.#storedUrnOf(row) },
        isPendingDelete: this.replaced.includes(row),
        ...(this.replaced.includes(row) && { replacedState: row.state }),
      }));
    const clients = await this.bindings.begin({ config, clock: fastClock, rows, keepsTokens: true });
    this.#clients.push(...clients);
    const run = { isDead: false };
    const end = new Promise<never>((_, reject) => {
      this.#kill = () => {
        run.isDead = true;
        for (const client of clients) client.die();
        reject(new Killed());
      };
    });
    return Promise.race([runs.run(run, work), end]).finally(() => {
      this.#kill = undefined;
    });
  }

  /** Creates or updates a resource, unless it is not selected or a dependency has failed. */
  async #register(declared: Declared, selection: Selection, options: RunOptions): Promise<void> {
    const key = keyOf(declared);
    const old = this.#oldOf(declared);
    const dependencies = dependenciesOf(declared);
    const passOn = async () => {
      if (old && old.name !== declared.name) await this.#keep({ ...old, name: declared.name }, old);
    };
    if (selection.isHeldUp(dependencies)) {
      selection.fail(key);
      return;
    }
    if (!selection.includes(key, dependencies)) {
      if (old) await passOn();
      else selection.skip(key);
      return;
    }
    const missing = selection.missing(dependencies);
    if (missing) throw new Refused(`${key} depends on ${missing} which was not specified in --target list`);
    try {
      await this.#step(declared, dependencies, old, options.replace?.includes(key) ?? false);
    } catch (error) {
      selection.fail(key);
      throw error;
    }
  }

  async #step(
    declared: Declared,
    dependencies: readonly string[],
    old: Held | undefined,
    replace: boolean,
  ): Promise<void> {
    const { kind, name } = declared;
    const { binding } = this;
    const lifecycle = this.#lifecycleOf({ kind, name, binding });
    const __urn = this.#storedUrnOf({ kind, name, binding });
    const given = passed({ ...this.#argsOf(declared, old), ...(binding === "dynamic" && { __urn }) });
    const checked = await lifecycle.check(old?.inputs ?? {}, given);
    if (checked.failures.length > 0) throw new Error(JSON.stringify(checked));
    const news = passed(checked.inputs);
    // A forced replacement has no diff.
    const diff =
      old && (replace ? { changes: true, replaces: ["id"] } : await lifecycle.diff(old.id, old.state, news));
    if (old && !diff?.changes && !old.broken) {
      await this.#keep({ ...old, name, binding, inputs: news, dependencies }, old);
      return;
    }
    this.steps.set(kind, (this.steps.get(kind) ?? 0) + 1);
    const isReplaced = old && (diff?.replaces?.length ?? 0) > 0;
    const made = (id: string, state: object = {}, broken = false): Held => ({
      ...{ kind, name, id, binding, inputs: news, state: passed(state as Properties), broken, dependencies },
    });
    try {
      if (old && !isReplaced) {
        const updated = await lifecycle.update(old.id, old.state, news);
        await this.#keep(made(old.id, updated.outs), old);
        return;
      }
      if (isReplaced && declared.deleteFirst) await this.#deleteFirst(old);
      const { id, outs } = await lifecycle.create(news);
      if (isReplaced && !declared.deleteFirst) this.replaced.push(old);
      await this.#keep(made(id, outs), old);
      await this.onMade(made(id, outs));
    } catch (error) {
      const { id, properties } = error as { id?: string; properties?: Properties };
      if (id && properties) {
        if (isReplaced && this.held.get(keyOf(old)) === old) this.replaced.push(old);
        await this.#keep(made(id, properties, true), old);
      }
      throw error;
    }
  }

  /** Applies `ignoreChanges` to arguments. */
  #argsOf({ args, ignores = [] }: Declared, old: Held | undefined): Properties {
    const given = args(this.of);
    return old ? { ...given, ...Object.fromEntries(ignores.map((key) => [key, old.inputs[key]])) } : given;
  }

  /** Deletes a resource before its replacement, after its dependents that are replaced too. */
  async #deleteFirst(old: Held): Promise<void> {
    const isReplacedToo = (row: Held) =>
      this.#lifecycleOf(row).replaceOn.some((key) => row.state[key] === old.id);
    const above = [...this.dependents([keyOf(old)])].map((key) => this.held.get(key) as Held);
    for (const row of above.filter(isReplacedToo)) {
      if (this.held.get(keyOf(row)) === row) await this.#deleteFirst(row);
    }
    await this.#delete(old);
  }

  /** Deletes undeclared and replaced resources. */
  async #deleteAll(
    program: readonly Declared[],
    selection: Selection,
    options: RunOptions,
  ): Promise<Error[]> {
    const declared = new Set(program.map(keyOf));
    const leaving = [...this.held.values()].filter((row) => !declared.has(keyOf(row)));
    const errors: Error[] = [];
    let going: Held[];
    try {
      going = selection.deletable([...leaving, ...this.replaced]).sort(byDependency);
    } catch (error) {
      return [error as Error];
    }
    for (const row of going) {
      const isNeeded = [...selection.failed].some((key) => this.dependencies([key]).has(keyOf(row)));
      if (isNeeded) continue;
      try {
        await this.#delete(row);
      } catch (error) {
        errors.push(error as Error);
        selection.fail(keyOf(row));
        if (!options.continueOnError) return errors;
      }
    }
    return errors;
  }

  async #delete(row: Held): Promise<void> {
    this.deleting.add(row);
    try {
      await this.#lifecycleOf(row).delete(row.id, row.state);
      this.remove(row);
    } finally {
      this.deleting.delete(row);
    }
  }

  #lifecycleOf(row: Pick<Held, "kind" | "name" | "binding">): BoundLifecycle {
    return this.bindings.of(row.binding).lifecycleOf(this.urnOf(row));
  }

  #storedUrnOf(row: Pick<Held, "kind" | "name" | "binding">): string {
    return row.binding === "plugin" ? pluginUrn(this.urnOf(row)) : this.urnOf(row);
  }

  /** URN of a resource with the dynamic binding. */
  urnOf({ kind, name }: { kind: Kind; name: string }): string {
    return `urn:pulumi:${this.stack}::small::pulumi-nodejs:dynamic/recommender:${kind}::${name}`;
  }

  /** Returns the state entry of a resource by its name or an alias. */
  #oldOf({ kind, name, aliases = [] }: Declared): Held | undefined {
    const names = [name, ...aliases].filter((each) => this.held.has(keyOf({ kind, name: each })));
    return names[0] === undefined ? undefined : this.held.get(keyOf({ kind, name: names[0] }));
  }

  async #keep(resource: Held, old?: Held): Promise<void> {
    // A killed engine stores nothing, even if a create has just returned.
    if (runs.getStore()?.isDead) return new Promise(() => {});
    this.write(resource, old);
    const isHeard = this.programHears && this.isTypeScript && !resource.broken;
    if (isHeard) await eraseStored(this.urnOf(resource), new Set([resource.id]));
  }
}
