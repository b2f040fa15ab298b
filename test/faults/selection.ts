import { type Held, keyOf, type Rows } from "./rows";

/** Options of `pulumi up` and `pulumi destroy` that select resources, by key. */
export interface RunOptions {
  readonly targets?: readonly string[];
  /** Option `--target-dependents`. */
  readonly dependents?: boolean;
  readonly excludes?: readonly string[];
  readonly replace?: readonly string[];
  readonly continueOnError?: boolean;
}

/** Selects the resources of a run by the rules of the engine. */
export class Selection {
  /** Targets, with dependents if selected. */
  readonly #targets: Set<string> | undefined;
  /** New resources that are not selected, so they are not created. */
  readonly #skipped = new Set<string>();
  /** Failed resources, and resources skipped because of them. */
  readonly failed = new Set<string>();

  constructor(
    private readonly options: RunOptions,
    private readonly rows: Rows,
  ) {
    this.#targets = options.targets && new Set(options.targets);
  }

  /** Whether a declared resource is selected. */
  includes(key: string, dependencies: readonly string[]): boolean {
    const { dependents, excludes } = this.options;
    if (!this.#targets) return !excludes?.includes(key);
    const isMeant =
      this.#targets.has(key) ||
      (dependents === true && dependencies.some((each) => this.#targets?.has(each)));
    if (isMeant) this.#targets.add(key);
    return isMeant;
  }

  /** Skips a new resource that is not selected. */
  skip(key: string): void {
    this.#skipped.add(key);
  }

  /** Returns the dependencies that the run does not create. */
  missing(dependencies: readonly string[]): string | undefined {
    return dependencies.find((key) => this.#skipped.has(key));
  }

  fail(key: string): void {
    this.failed.add(key);
  }

  /** Whether a failed dependency blocks a resource. */
  isHeldUp(dependencies: readonly string[]): boolean {
    return dependencies.some((key) => this.failed.has(key));
  }

  /** Returns the resources to delete. Throws like the engine if dependents that are not selected would have to be deleted. */
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

/** Rejection of a run by the engine. */
export class Refused extends Error {}
