import type { Compiled } from "../../../expressions/compile";
import { Estimate, sizeOf } from "../../../expressions/cost";
import type { Part, Scope } from "../../../expressions/part";
import type { Column } from "./column";

/** The values that a filter reads. */
export interface Input {
  /** Columns of the item attributes, in the order of the compiled expression. */
  readonly columns: readonly Column[];
  /** Values of the user attributes, in the order of the compiled expression. */
  readonly user: readonly unknown[];
  /** Number of items. */
  readonly items: number;
}

/** Keeps the truth values of parts that do not read the user, for other users. */
export interface KeptMasks {
  find(part: Part, input: Input): Uint8Array | undefined;
  keep(part: Part, input: Input, mask: Uint8Array): void;
}

/** Returns the numbers of the items for which an expression is true, ascending. */
export function matching({ root }: Compiled, input: Input, kept: KeptMasks): Uint32Array {
  const { items } = input;
  const mask = new Evaluation(input, kept).mask(root);
  const words = wordsOf(mask);
  let count = 0;
  for (let item = 0; item < items; item++) count += mask[item] as number;
  const found = new Uint32Array(count);
  for (let word = 0, to = 0; to < count; word++) {
    if (words[word] === 0) continue;
    const end = Math.min(items, (word + 1) * wordBytes);
    for (let item = word * wordBytes; item < end; item++) if (mask[item]) found[to++] = item;
  }
  return found;
}

/** Masks are combined four items at a time, which is several times faster. */
const wordBytes = Uint32Array.BYTES_PER_ELEMENT;

/** A word of a mask in which all items are true. */
const allTrue = 0x01010101;

/** Allocates a mask of whole words. The values after the last item mean nothing. */
function allocateMask(items: number): Uint8Array {
  return new Uint8Array(Math.ceil(items / wordBytes) * wordBytes);
}

function wordsOf(mask: Uint8Array): Uint32Array {
  return new Uint32Array(mask.buffer);
}

/** Estimated share of calls that compute a part that does not read the user. All other calls use kept values. */
const keptShare = 0.25;

/** Returns the estimated time of an evaluation, relative to one comparison. */
export function costOf({ root }: Compiled, { columns, items, user }: Input): number {
  const largest = columns.map(({ sizes }) => sizes.largest);
  const estimateFor = (item: number[]) =>
    new Estimate({ item, largest, user: user.map(sizeOf), variables: [] });
  const perValue = estimateFor(columns.map(({ sizes, size }) => sizes.distinct / size));
  const perItem = estimateFor(columns.map(({ sizes }) => Math.max(1, sizes.all / items)));
  const cost = (part: Part, isKept: boolean): number => {
    if (part.items.size === 0) return perItem.of(part).time;
    if (!part.readsUser && !isKept) return keptShare * cost(part, true);
    const [place] = part.items;
    // A part with one attribute is evaluated once per distinct value. Each item then only needs a lookup.
    if (part.items.size === 1)
      return perValue.of(part).time * (columns[place as number] as Column).size + items / 8;
    if (!part.logic && !part.combine) return perItem.of(part).time * items;
    const own = part.logic ? items / 8 : perItem.of(part).own * items;
    return part.parts.reduce((sum, one) => sum + cost(one, isKept), own);
  };
  return cost(root, false);
}

/** Evaluates the parts of an expression for all items at once. */
class Evaluation {
  private readonly scope: Scope;

  constructor(
    private readonly input: Input,
    private readonly kept: KeptMasks,
  ) {
    const { columns, user } = input;
    this.scope = { item: columns.map(() => null), user, variables: [], memo: [] };
  }

  /**
   * Returns an array with 1 for each item for which a part is true, and 0 for all other items. Callers must not change
   * it.
   */
  mask(part: Part): Uint8Array {
    // A mask of a part that reads the user is of no use to other users.
    if (part.readsUser || part.items.size === 0) return this.computed(part);
    const known = this.kept.find(part, this.input);
    if (known) return known;
    const mask = this.computed(part);
    this.kept.keep(part, this.input, mask);
    return mask;
  }

  private computed(part: Part): Uint8Array {
    const { items } = this.input;
    const mask = allocateMask(items);
    const { size } = part.items;
    if (size === 0) return mask.fill(part.evaluate(this.scope) === true ? 1 : 0);
    if (part.logic && (size > 1 || part.readsUser)) return this.combined(part, mask);
    if (size === 1) return this.ofOneColumn(part, mask);
    const value = this.reader(part);
    for (let item = 0; item < items; item++) mask[item] = value(item) === true ? 1 : 0;
    return mask;
  }

  private ofOneColumn(part: Part, mask: Uint8Array): Uint8Array {
    const { column, item, place } = this.columnOf(part);
    const { codes, values } = column;
    const { scope } = this;
    const truths = new Uint8Array(values.length);
    for (let code = 0; code < truths.length; code++) {
      item[place] = values[code];
      if (part.evaluate(scope) === true) truths[code] = 1;
    }
    const { items } = this.input;
    for (let at = 0; at < items; at++) mask[at] = truths[codes[at] as number] as number;
    return mask;
  }

  private combined({ logic, parts }: Part, mask: Uint8Array): Uint8Array {
    const [a, b = mask] = parts.map((part) => this.mask(part)) as [Uint8Array, Uint8Array | undefined];
    const [left, right, words] = [wordsOf(a), wordsOf(b), wordsOf(mask)];
    const { length } = words;
    if (logic === "&&")
      for (let at = 0; at < length; at++) words[at] = (left[at] as number) & (right[at] as number);
    else if (logic === "||")
      for (let at = 0; at < length; at++) words[at] = (left[at] as number) | (right[at] as number);
    else for (let at = 0; at < length; at++) words[at] = (left[at] as number) ^ allTrue;
    return mask;
  }

  /** Returns the column that a part reads, and where its evaluation expects the values. */
  private columnOf(part: Part) {
    const [place] = part.items as ReadonlySet<number> & Iterable<number>;
    const column = this.input.columns[place as number] as Column;
    return { column, item: this.scope.item, place: place as number };
  }

  /** Evaluates a part that reads one attribute, once per distinct value. */
  private ofColumn(part: Part): { readonly codes: Uint32Array; readonly values: unknown[] } {
    const { column, item, place } = this.columnOf(part);
    const values = column.values.map((value) => {
      item[place] = value;
      return part.evaluate(this.scope);
    });
    return { codes: column.codes, values };
  }

  /** Returns a function that computes the value of a part for an item. */
  private reader(part: Part): (item: number) => unknown {
    const { size } = part.items;
    if (size === 0) {
      const value = part.evaluate(this.scope);
      return () => value;
    }
    if (size === 1) {
      const { codes, values } = this.ofColumn(part);
      return (item) => values[codes[item] as number];
    }
    const { combine } = part;
    if (!combine) return this.rowReader(part);
    const [a, b, ...more] = part.parts.map((one) => this.reader(one)) as [Read, Read, ...Read[]];
    if (more.length === 0) return (item) => combine(a(item), b(item));
    return (item) => combine(a(item), b(item), ...more.map((read) => read(item)));
  }

  /** Reads all attributes of an item, for parts that cannot be evaluated column by column. */
  private rowReader(part: Part): (item: number) => unknown {
    const { columns } = this.input;
    const { scope } = this;
    const places = [...part.items];
    return (item) => {
      for (const place of places) {
        const { codes, values } = columns[place] as Column;
        scope.item[place] = values[codes[item] as number];
      }
      return part.evaluate(scope);
    };
  }
}

type Read = (item: number) => unknown;
