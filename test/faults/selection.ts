import { type Held, keyOf, type Rows } from "./rows";

/** Options of `pulumi up` and `pulumi destroy` that say what a run is about, each by keys of resources. */
export interface RunOptions {
  readonly targets?: readonly string[];
  /** With targets: whether what stands on them is meant too. */
  readonly dependents?: boolean;
  readonly excludes?: readonly string[];
  readonly replace?: readonly string[];
  readonly continueOnError?: boolean;
}

/** What a run is about, by the rules of the engine. */
export class Selection {
  /** Targets, and what stands on them where that is meant too. */
  readonly #targets: Set<string> | undefined;
  /** What is new and not meant: it is not made. */
  readonly #skipped = new Set<string>();
  /** What failed, and what was not tried because of it. */
  readonly failed = new Set<string>();

  constructor(
    private readonly options: RunOptions,
    private readonly rows: Rows,
  ) {
    this.#targets = options.targets && new Set(options.targets);
  }

  /** Whether a declared resource is meant. */
  includes(key: string, dependencies: readonly string[]): boolean {
    const { dependents, excludes } = this.options;
    if (!this.#targets) return !excludes?.includes(key);
    const isMeant =
      this.#targets.has(key) ||
      (dependents === true && dependencies.some((each) => this.#targets?.has(each)));
    if (isMeant) this.#targets.add(key);
    return isMeant;
  }

  /** A new resource that is not meant is not made. */
  skip(key: string): void {
    this.#skipped.add(key);
  }

  /** What a resource needs and the run does not make. */
  missing(dependencies: readonly string[]): string | undefined {
    return dependencies.find((key) => this.#skipped.has(key));
  }

  fail(key: string): void {
    this.failed.add(key);
  }

  /** Whether something that failed keeps a resource from being tried. */
  isHeldUp(dependencies: readonly string[]): boolean {
    return dependencies.some((key) => this.failed.has(key));
  }

  /** Of what is to be deleted, that which may be; the engine refuses where more would have to go than is meant. */
  deletable(leaving: readonly Held[]): Held[] {
    const { targets, dependents, excludes } = this.options;
    if (targets) {
      const allowed = new Set([...targets, ...this.rows.dependents(targets)]);
      const going = leaving.filter((row) => allowed.has(keyOf(row)));
      const unasked = dependents ? undefined : going.find((row) => !targets.includes(keyOf(row)));
      if (unasked)
        throw new Refused(`${keyOf(unasked)} would be deleted but was not specified in --target list`);
      return going;
    }
    if (!excludes) return [...leaving];
    const kept = new Set([...excludes, ...this.rows.dependencies(excludes)]);
    return leaving.filter((row) => !kept.has(keyOf(row)));
  }
}

/** The engine itself refuses a run. */
export class Refused extends Error {}
