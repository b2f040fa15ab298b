import { type Kind, keyOf, kinds, type Lookup, type Properties } from "./rows";

/** A resource of a program. Its arguments may use the outputs of resources declared before it. */
export interface Declared {
  readonly kind: Kind;
  readonly name: string;
  /** Its former names. */
  readonly aliases?: readonly string[];
  /** Arguments whose changes are ignored. */
  readonly ignores?: readonly string[];
  /** Whether it is deleted before it is replaced. */
  readonly deleteFirst?: boolean;
  args(of: Lookup): Properties;
}

/** The keys of the resources that the arguments of a resource use. */
export function dependenciesOf({ args }: Declared): string[] {
  const keys = new Set<string>();
  args((kind, name) => {
    keys.add(keyOf({ kind, name }));
    return {};
  });
  return [...keys];
}

/** Resources that can be created at the same time, in order: the datasets first, then one level per kind. */
export function levelsOf(program: readonly Declared[]): Declared[][] {
  const level = ({ kind }: Declared) => Math.max(2, kinds.indexOf(kind));
  const numbers = [...new Set(program.map(level))].sort((a, b) => a - b);
  return numbers.map((number) => program.filter((resource) => level(resource) === number));
}
