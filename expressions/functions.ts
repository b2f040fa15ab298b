import { BOOL, type Kinds, LIST, MAP, NULL, NUMBER, TEXT } from "./kinds";

/** A function or operator of the language. */
export interface Operation {
  /** Kinds that each argument can have. A value of another kind gives the result for a missing value. */
  readonly takes: readonly Kinds[];
  readonly gives: Kinds;
  /** Returns the time of one evaluation, relative to a comparison, from the sizes of the arguments. */
  readonly work: (sizes: readonly number[]) => number;
  /** Returns the size of the result. By default 1. */
  readonly size?: (sizes: readonly number[]) => number;
  readonly apply: (...values: readonly unknown[]) => unknown;
}

/** Work of an operation that reads its arguments once. */
const reads = (sizes: readonly number[]) => sizes.reduce((sum, size) => sum + size, 4);

/** Work of an operation that looks at each character. */
const readsCharacters = ([size = 1]: readonly number[]) => 4 + 4 * size;

const sizeOfText = ([size = 1]: readonly number[]) => size;

function onText(apply: (text: string, other: string) => unknown, gives: Kinds, count: number): Operation {
  return {
    takes: Array<Kinds>(count).fill(TEXT),
    gives,
    work: reads,
    ...(gives !== BOOL && { size: sizeOfText }),
    apply: (text, other) =>
      typeof text === "string" && (count === 1 || typeof other === "string")
        ? apply(text, other as string)
        : gives === BOOL
          ? false
          : null,
  };
}

function lengthOf(value: unknown): number | null {
  if (Array.isArray(value)) return value.length;
  if (typeof value === "object") return value === null ? null : Object.keys(value).length;
  if (typeof value !== "string") return null;
  let length = 0;
  for (const _ of value) length++;
  return length;
}

const size: Operation = {
  takes: [TEXT | LIST | MAP],
  gives: NUMBER | NULL,
  work: readsCharacters,
  apply: lengthOf,
};

const otherThanAscii = /[^ -~]/;

/**
 * Changes the case of ASCII letters: of all upper-case letters if the first one is A, of all lower-case letters if it
 * is a.
 */
function withOtherCase(text: string, first: "A" | "a"): string {
  if (!otherThanAscii.test(text)) return first === "A" ? text.toLowerCase() : text.toUpperCase();
  const letter = first.charCodeAt(0);
  const codes = Buffer.from(text, "utf16le");
  for (let at = 0; at < codes.length; at += 2) {
    const code = codes[at] as number;
    if (codes[at + 1] === 0 && code >= letter && code < letter + 26) codes[at] = code ^ 32;
  }
  return codes.toString("utf16le");
}

const double: Operation = {
  takes: [TEXT | NUMBER],
  gives: NUMBER | NULL,
  work: reads,
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
      work: () => 4,
      size: sizeOfText,
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
  ["lowerAscii", onText((text) => withOtherCase(text, "A"), TEXT | NULL, 1)],
  ["upperAscii", onText((text) => withOtherCase(text, "a"), TEXT | NULL, 1)],
]);

/** Whether a list has values for which a condition is true. */
export type ListTest = (values: readonly unknown[], isTrue: (value: unknown) => boolean) => boolean;

/** Tests of the values of a list, such as `item.tags.exists(tag, tag == "new")`. */
export const macros: ReadonlyMap<string, ListTest> = new Map<string, ListTest>([
  ["exists", (values, isTrue) => values.some(isTrue)],
  ["exists_one", hasExactlyOne],
  ["all", (values, isTrue) => values.every(isTrue)],
]);

function hasExactlyOne(values: readonly unknown[], isTrue: (value: unknown) => boolean): boolean {
  const first = values.findIndex(isTrue);
  return first >= 0 && !values.slice(first + 1).some(isTrue);
}
