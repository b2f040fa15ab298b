/** Whether two values are equal. Lists and objects are equal if all of their parts are. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return areEqualLists(a, b);
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return keys.every((key) => Object.hasOwn(right, key) && equal(left[key], right[key]));
}

function areEqualLists(a: object, b: object): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((value, at) => equal(value, b[at]));
}

/** Returns a test for `isIn` whose time does not depend on the length of the list. */
export function memberTest(list: unknown): (value: unknown) => boolean {
  if (isMap(list)) return (value) => isIn(value, list);
  const isNested = (value: unknown) => typeof value === "object" && value !== null;
  const textOf = (value: unknown) => JSON.stringify(value, inOrder);
  const plain = new Set(listOf(list).filter((value) => !isNested(value)));
  const nested = new Set(listOf(list).filter(isNested).map(textOf));
  return (value) => (isNested(value) ? nested.has(textOf(value)) : plain.has(value));
}

/** Writes the keys of objects in order. */
function inOrder(_: string, value: unknown): unknown {
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether a value is an object with keys. */
function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Compares two numbers or two texts. False for all other values, such as missing ones. */
export function compared(
  test: (a: number | string, b: number | string) => boolean,
): (a: unknown, b: unknown) => boolean {
  return (a, b) =>
    typeof a === typeof b && (typeof a === "number" || typeof a === "string")
      ? test(a, b as typeof a)
      : false;
}

/** Returns the values of a list. A single category is treated as a list of one, and a missing value as an empty list. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/** Whether a value is in a list, or a key in an object. */
export function isIn(value: unknown, list: unknown): boolean {
  if (isMap(list)) return typeof value === "string" && Object.hasOwn(list, value);
  return listOf(list).some((one) => equal(one, value));
}

/** Calculates with two numbers. Null if one of them is missing, or if the result is not a finite number. */
export function calculated(by: (a: number, b: number) => number): (a: unknown, b: unknown) => number | null {
  return (a, b) => {
    if (typeof a !== "number" || typeof b !== "number") return null;
    const result = by(a, b);
    return Number.isFinite(result) ? result : null;
  };
}

/** Adds numbers, or joins texts. */
export function sum(a: unknown, b: unknown): number | string | null {
  if (typeof a === "string" && typeof b === "string") return a + b;
  return add(a, b);
}

const add = calculated((a, b) => a + b);

/** Returns the value of a key in an object, or of an index in a list; null if there is none. */
export function at(container: unknown, key: unknown): unknown {
  if (typeof container !== "object" || container === null) return null;
  if (Array.isArray(container)) return (typeof key === "number" ? container[key] : null) ?? null;
  return typeof key === "string" && Object.hasOwn(container, key)
    ? ((container as Record<string, unknown>)[key] ?? null)
    : null;
}
