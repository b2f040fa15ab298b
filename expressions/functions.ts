import { BOOL, type Kinds, LIST, MAP, NULL, NUMBER, TEXT } from "./kinds";

/** A function or operator of the language. */
export interface Operation {
  /** Kinds that each argument can have. A value of another kind gives the result for a missing value. */
  readonly takes: readonly Kinds[];
  readonly gives: Kinds;
  /** Time of one evaluation, relative to a comparison. */
  readonly cost: number;
  readonly apply: (...values: readonly unknown[]) => unknown;
}

function onText(apply: (text: string, other: string) => unknown, gives: Kinds, count: number): Operation {
  return {
    takes: Array<Kinds>(count).fill(TEXT),
    gives,
    cost: 4,
    apply: (text, other) =>
      typeof text === "string" && (count === 1 || typeof other === "string")
        ? apply(text, other as string)
        : gives === BOOL
          ? false
          : null,
  };
}

function sizeOf(value: unknown): number | null {
  if (typeof value === "string") return [...value].length;
  if (typeof value !== "object" || value === null) return null;
  return Object.keys(value).length;
}

const size: Operation = { takes: [TEXT | LIST | MAP], gives: NUMBER | NULL, cost: 4, apply: sizeOf };

const double: Operation = {
  takes: [TEXT | NUMBER],
  gives: NUMBER | NULL,
  cost: 4,
  apply: (value) => {
    const number =
      typeof value === "number" || (typeof value === "string" && value.trim()) ? Number(value) : NaN;
    return Number.isFinite(number) ? number : null;
  },
};

/** Functions such as `size(item.tags)`. */
export const functions: ReadonlyMap<string, Operation> = new Map([
  ["size", size],
  ["double", double],
  [
    "int",
    {
      ...double,
      apply: (value) => {
        const number = double.apply(value);
        return number === null ? null : Math.trunc(number as number);
      },
    },
  ],
  [
    "string",
    {
      takes: [TEXT | NUMBER | BOOL],
      gives: TEXT | NULL,
      cost: 4,
      apply: (value) => (["string", "number", "boolean"].includes(typeof value) ? String(value) : null),
    },
  ],
]);

/** Methods such as `item.title.contains("jazz")`. The first argument is the value before the dot. */
export const methods: ReadonlyMap<string, Operation> = new Map([
  ["size", size],
  ["contains", onText((text, part) => text.includes(part), BOOL, 2)],
  ["startsWith", onText((text, part) => text.startsWith(part), BOOL, 2)],
  ["endsWith", onText((text, part) => text.endsWith(part), BOOL, 2)],
  ["lowerAscii", onText((text) => text.replace(/[A-Z]+/g, (part) => part.toLowerCase()), TEXT | NULL, 1)],
  ["upperAscii", onText((text) => text.replace(/[a-z]+/g, (part) => part.toUpperCase()), TEXT | NULL, 1)],
]);

/** Tests of the values of a list, such as `item.tags.exists(tag, tag == "new")`. */
export const macros: ReadonlyMap<string, (truths: Iterable<boolean>) => boolean> = new Map([
  ["exists", (truths) => countOf(truths, 1) > 0],
  ["exists_one", (truths) => countOf(truths, 2) === 1],
  [
    "all",
    (truths) => {
      for (const truth of truths) if (!truth) return false;
      return true;
    },
  ],
]);

function countOf(truths: Iterable<boolean>, most: number): number {
  let count = 0;
  for (const truth of truths) if (truth && ++count === most) break;
  return count;
}
