/**
 * Returns how much there is to read in a value: the number of simple values in it. 16 characters of a text count as one.
 */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return Math.max(1, value.length / charactersPerSize);
  if (typeof value !== "object" || value === null) return 1;
  let size = 1;
  if (Array.isArray(value)) for (const one of value) size += sizeOf(one);
  else
    for (const key of Object.keys(value)) size += entrySize + sizeOf((value as Record<string, unknown>)[key]);
  return size;
}

const charactersPerSize = 16;

/** An entry of an object takes longer to read than a value of a list. */
const entrySize = 3;

/** Sizes of the values that an expression reads, by their places. */
export interface Sizes {
  readonly item: readonly number[];
  /** Largest sizes of the item attributes. */
  readonly largest: readonly number[];
  readonly user: readonly number[];
  readonly variables: readonly number[];
}

/** The estimated cost of evaluating a part once. Times are relative to a comparison of two numbers. */
export interface Cost {
  /** Time of the part without its parts. */
  readonly own: number;
  /** Time of the part with all of its parts. */
  readonly time: number;
  /** Size of its value. */
  readonly size: number;
}

/** A part of an expression. */
interface Costly {
  cost(estimate: Estimate): Cost;
}

/** Estimates the time that parts of an expression take with values of given sizes. */
export class Estimate {
  private readonly known = new Map<Costly, Cost>();

  constructor(readonly sizes: Sizes) {}

  of(part: Costly): Cost {
    let cost = this.known.get(part);
    if (!cost) {
      cost = part.cost(this);
      this.known.set(part, cost);
    }
    return cost;
  }

  /** Returns the cost of a test that is done for each value of a list. The lists that it tests may be the largest ones. */
  ofTest(test: Costly, place: number, list: number): Cost {
    const { largest, user, variables } = this.sizes;
    const inner = { item: largest, largest, user, variables: [...variables.slice(0, place), list] };
    return new Estimate(inner).of(test);
  }
}
