import { type Kind, keyOf, kinds, type Lookup, type Properties } from "./rows";

/** Resource of a program. Its arguments may use outputs of earlier resources. */
export interface Declared {
  readonly kind: Kind;
  readonly name: string;
  /** Aliases. */
  readonly aliases?: readonly string[];
  /** Option `ignoreChanges`. */
  readonly ignores?: readonly string[];
  /** Option `deleteBeforeReplace`. */
  readonly deleteFirst?: boolean;
  args(of: Lookup): Properties;
}

/** Returns the keys of the resources that the arguments use. */
export function dependenciesOf({ args }: Declared): string[] {
  const keys = new Set<string>();
  args((kind, name) => {
    keys.add(keyOf({ kind, name }));
    return {};
  });
  return [...keys];
}

/** Groups resources that can be created concurrently: first the datasets, then one level per kind. */
export function levelsOf(program: readonly Declared[]): Declared[][] {
  const level = ({ kind }: Declared) => Math.max(2, kinds.indexOf(kind));
  const numbers = [...new Set(program.map(level))].sort((a, b) => a - b);
  return numbers.map((number) => program.filter((resource) => level(resource) === number));
}
