import type { Cost, Estimate, Sizes } from "./cost";
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
  /** Estimates the cost of one evaluation. Call `Estimate.of` instead, which keeps the result. */
  cost(estimate: Estimate): Cost;
  /** Computes the value for one item. Never undefined. */
  evaluate(scope: Scope): unknown;
  readonly parts: readonly Part[];
  /** The kinds of values in a list, if the expression lists them. */
  readonly elements?: Kinds | undefined;
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

/** What a leaf reads, and the size of its value. */
interface Leaf extends Partial<Pick<Part, "items" | "readsUser" | "readsVariable" | "elements">> {
  readonly size: (sizes: Sizes) => number;
}

/** Creates a part without parts, such as a number. */
export function leaf(
  at: number,
  kinds: Kinds,
  evaluate: (scope: Scope) => unknown,
  { size, items = noItems, readsUser = false, readsVariable = false, elements }: Leaf,
): Part {
  const cost = ({ sizes }: Estimate): Cost => ({ own: 1, time: 1, size: size(sizes) });
  return { at, kinds, evaluate, cost, parts: [], items, readsUser, readsVariable, elements };
}

/** What a part adds to its parts. */
interface Definition extends Pick<Part, "at" | "kinds" | "parts" | "logic" | "elements"> {
  /** Returns the time of the part without its parts, from the sizes of their values. By default 1. */
  readonly work?: ((sizes: readonly number[]) => number) | undefined;
  /** Returns the size of the value from the sizes of the values of the parts. By default 1. */
  readonly size?: ((sizes: readonly number[]) => number) | undefined;
  /** Overrides `combine` for a single item. */
  readonly evaluate?: (scope: Scope) => unknown;
  readonly combine?: ((...values: unknown[]) => unknown) | undefined;
}

const one = () => 1;

/** Creates a part from its parts. */
export function partOf({
  at,
  kinds,
  parts,
  logic,
  elements,
  work = one,
  size = one,
  ...how
}: Definition): Part {
  const { combine, evaluate = evaluator(parts, combine as NonNullable<typeof combine>) } = how;
  const cost = (estimate: Estimate): Cost => {
    const sizes: number[] = [];
    let inner = 0;
    // Not with `map`, because the functions that it calls would need more of the stack in long expressions.
    for (const part of parts) {
      const cost = estimate.of(part);
      sizes.push(cost.size);
      inner += cost.time;
    }
    const own = work(sizes);
    return { own, time: own + inner, size: size(sizes) };
  };
  return {
    ...{ at, kinds, parts, logic, elements, combine, evaluate, cost },
    items: union(parts),
    readsUser: parts.some((part) => part.readsUser),
    readsVariable: parts.some((part) => part.readsVariable),
  };
}

/** Returns all places that parts read. Most parts read the same ones as one of their parts. */
function union(parts: readonly Part[]): ReadonlySet<number> {
  let all = noItems;
  for (const { items } of parts)
    if (![...items].every((place) => all.has(place)))
      all = all.size === 0 ? items : new Set([...all, ...items]);
  return all;
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
