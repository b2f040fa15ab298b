import { sizeOf } from "../../../expressions/cost";
import { type Kinds, kindOf } from "../../../expressions/kinds";

/** Code of items without a value. */
const missing = 0;

/** Maximum number of characters of all distinct values of a column. */
const mostCharacters = 32 * 1024 * 1024;

/** Number of changes of all columns. A column that is read again never gets an earlier version. */
let changes = 0;

/**
 * The values of one item attribute, for all items. Each distinct value is stored once, so an expression that reads one
 * attribute is evaluated once per distinct value.
 */
export class Column {
  /** Code of each item's value. */
  codes = new Uint32Array(1024);
  /** Distinct values by code. The first one is null, for items without a value. */
  values: unknown[] = [null];
  /** Changes with every change of a value, and differs from that of every other column. */
  version = ++changes;
  /** Characters of all distinct values. */
  characters = 0;
  /** Size of all distinct values, of the values of all items, and of the largest value so far, to estimate times. */
  readonly sizes = { distinct: 1, all: 0, largest: 1 };
  /** Whether the values are too long to keep all of them. Then the column has no values. */
  isTooLarge = false;
  private keys: string[] = [""];
  private readonly codeOf = new Map<string, number>();
  private uses: number[] = [0];
  private sizeOf: number[] = [1];
  /**
   * Codes of values that no item has any more. New values reuse them, or an attribute such as a time would fill the
   * memory.
   */
  private free: number[] = [];

  constructor(private readonly most = mostCharacters) {}

  /** Number of codes, which is about the number of distinct values. */
  get size(): number {
    return this.values.length;
  }

  /** Sets the value of an item. */
  set(item: number, value: unknown): void {
    if (this.isTooLarge) return;
    if (item >= this.codes.length) this.grow(item + 1);
    const before = this.codes[item] as number;
    const code = value === null || value === undefined ? missing : this.use(value);
    if (before !== missing) this.release(before);
    if (before === code) return;
    this.codes[item] = code;
    this.version = ++changes;
    if (this.characters > this.most) this.giveUp();
  }

  /** Makes room for items, which have no value yet. */
  grow(items: number): void {
    if (items <= this.codes.length) return;
    const codes = new Uint32Array(items + (items >> 3));
    codes.set(this.codes);
    this.codes = codes;
  }

  private giveUp(): void {
    this.isTooLarge = true;
    this.codes = new Uint32Array(0);
    this.codeOf.clear();
    [this.values, this.keys, this.uses, this.sizeOf, this.free] = [[null], [""], [0], [1], []];
  }

  private use(value: unknown): number {
    const key = typeof value === "string" ? `"${value}` : JSON.stringify(value);
    let code = this.codeOf.get(key);
    if (code === undefined) {
      code = this.free.pop() ?? this.values.length;
      this.codeOf.set(key, code);
      this.keys[code] = key;
      this.values[code] = value;
      this.uses[code] = 0;
      this.characters += key.length;
      const size = sizeOf(value);
      this.sizeOf[code] = size;
      this.sizes.distinct += size;
      this.sizes.largest = Math.max(this.sizes.largest, size);
    }
    this.uses[code] = (this.uses[code] as number) + 1;
    this.sizes.all += this.sizeOf[code] as number;
    return code;
  }

  private release(code: number): void {
    this.uses[code] = (this.uses[code] as number) - 1;
    const size = this.sizeOf[code] as number;
    this.sizes.all -= size;
    if (this.uses[code] !== 0) return;
    this.sizes.distinct -= size;
    const key = this.keys[code] as string;
    this.codeOf.delete(key);
    this.characters -= key.length;
    this.values[code] = null;
    this.keys[code] = "";
    this.free.push(code);
  }
}

/** Converts a value of an attribute as the schema of its dataset says. */
export function interpreted(value: unknown, handling: string | undefined): unknown {
  if (handling !== "NUMERICAL" || typeof value !== "string") return value;
  // A training reads such texts as numbers too.
  const number = value === "" ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : null;
}

/** Kinds of the values of attributes by name. A kind stays known, even if no value has it any more. */
export class SeenKinds {
  readonly byName = new Map<string, Kinds>();
  /** Changes when an attribute gets a new kind of value. */
  version = 0;

  /** Notes the kind of a value. */
  see(name: string, value: unknown): void {
    const before = this.byName.get(name);
    const kinds = (before ?? 0) | kindOf(value);
    if (kinds === before) return;
    this.byName.set(name, kinds);
    this.version++;
  }
}
