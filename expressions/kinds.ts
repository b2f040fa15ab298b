/** A set of kinds of values, as bits. */
export type Kinds = number;

export const TEXT = 1;
export const NUMBER = 2;
export const BOOL = 4;
export const LIST = 8;
export const MAP = 16;
/** A missing value. */
export const NULL = 32;
/** Every kind of value. Nothing is known about such a value before it is read. */
export const ANY = 63;

const names: readonly (readonly [Kinds, string])[] = [
  [TEXT, "text"],
  [NUMBER, "a number"],
  [BOOL, "true or false"],
  [LIST, "a list"],
  [MAP, "an object"],
];

/** Returns the kind of a value. */
export function kindOf(value: unknown): Kinds {
  switch (typeof value) {
    case "string":
      return TEXT;
    case "number":
      return NUMBER;
    case "boolean":
      return BOOL;
    default:
      if (value === null || value === undefined) return NULL;
      return Array.isArray(value) ? LIST : MAP;
  }
}

/** Describes kinds for a message: `text or a number`. */
export function kindsText(kinds: Kinds): string {
  const words = names.filter(([kind]) => kinds & kind).map(([, name]) => name);
  return words.length === 0 ? "null" : words.join(" or ");
}
