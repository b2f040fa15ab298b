import type { Kinds } from "./kinds";

/** The values that a part of an expression can read. It can read nothing else. */
export interface Scope {
  /** Item attributes, by the order in which the expression names them. */
  item: unknown[];
  /** User attributes, by the order in which the expression names them. */
  readonly user: readonly unknown[];
  /** Variables of the tests of lists around the part. */
  readonly variables: unknown[];
  /** Results of parts that are the same for all items. */
  readonly memo: unknown[];
}

/** A compiled part of an expression. */
export interface Part {
  /** Offset in the text. */
  readonly at: number;
  /** The kinds of values that it can have. */
  readonly kinds: Kinds;
  /** Places of the item attributes that it reads. */
  readonly items: ReadonlySet<number>;
  readonly readsUser: boolean;
  readonly readsVariable: boolean;
  /** Time of one evaluation of this part and all of its parts, relative to a comparison. */
  readonly cost: number;
  /** Computes the value for one item. Never undefined. */
  evaluate(scope: Scope): unknown;
  readonly parts: readonly Part[];
  /** Computes the value from the values of the parts. Absent if only `evaluate` can. */
  readonly combine?: ((...values: unknown[]) => unknown) | undefined;
  /** The operator, if the values of whole columns can be combined with bit operations. */
  readonly logic?: "&&" | "||" | "!" | undefined;
}

const noItems: ReadonlySet<number> = new Set();

/** Whether a part has the same value for all items. */
export function isSame({ items, readsVariable }: Part): boolean {
  return items.size === 0 && !readsVariable;
}

/** Creates a part without parts, such as a number. */
export function leaf(
  at: number,
  kinds: Kinds,
  evaluate: (scope: Scope) => unknown,
  reads: Partial<Pick<Part, "items" | "readsUser" | "readsVariable">> = {},
): Part {
  const nothing = { items: noItems, readsUser: false, readsVariable: false };
  return { at, kinds, evaluate, cost: 1, parts: [], ...nothing, ...reads };
}

/** What a part adds to its parts. */
interface Definition extends Pick<Part, "at" | "kinds" | "parts" | "logic"> {
  readonly cost?: number;
  /** Overrides `combine` for a single item. */
  readonly evaluate?: (scope: Scope) => unknown;
  readonly combine?: (...values: unknown[]) => unknown;
}

/** Creates a part from its parts. */
export function partOf({ cost = 1, evaluate, ...definition }: Definition): Part {
  const { parts, combine } = definition;
  const items = new Set(parts.flatMap((part) => [...part.items]));
  return {
    ...definition,
    items,
    readsUser: parts.some((part) => part.readsUser),
    readsVariable: parts.some((part) => part.readsVariable),
    cost: parts.reduce((sum, part) => sum + part.cost, cost),
    evaluate: evaluate ?? evaluator(parts, combine as NonNullable<typeof combine>),
  };
}

function evaluator(
  parts: readonly Part[],
  combine: (...values: unknown[]) => unknown,
): (scope: Scope) => unknown {
  const [a, b] = parts as [Part, Part];
  if (parts.length === 1) return (scope) => combine(a.evaluate(scope));
  if (parts.length === 2) return (scope) => combine(a.evaluate(scope), b.evaluate(scope));
  return (scope) => combine(...parts.map((part) => part.evaluate(scope)));
}
