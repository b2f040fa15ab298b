import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../contract/field";
import { isSealed } from "../../provider/run/sealed-value";
import { unknownValue } from "../../provider/run/unknown-value";
import type { PropertyFinding } from "./finding";

type Json = NonNullable<PropertyFinding["declared"]>;
type Values = Readonly<Record<string, unknown>>;

/** Text for secrets in a report. */
export const secretText = "[secret]";
/** Text for values in a report that are not known yet. */
export const unknownText = "[not known yet]";

/** Returns the differences between two sets of properties, by path. Leaves out properties that start with `__`. */
export function differences(declared: Values, actual: Values): PropertyFinding[] {
  return allKeys(declared, actual)
    .filter((key) => !key.startsWith("__"))
    .flatMap((key) => diffValues(key, declared[key], actual[key]));
}

function allKeys(one: Values, other: Values): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();
}

/** Returns the secret properties. The engine does not show whether secrets differ, but they may be the only change. */
export function secretProperties(values: Values): PropertyFinding[] {
  return Object.entries(values)
    .filter(([key, value]) => !key.startsWith("__") && isSealed(value))
    .map(([path]) => ({ path, declared: secretText, actual: secretText, secret: true as const }));
}

function diffValues(path: string, declared: unknown, actual: unknown): PropertyFinding[] {
  if (isDeepStrictEqual(declared ?? null, actual ?? null)) return [];
  if (isPlainObject(declared) && isPlainObject(actual)) {
    const keys = allKeys(declared, actual);
    return keys.flatMap((key) => diffValues(memberPath(path, key), declared[key], actual[key]));
  }
  if (Array.isArray(declared) && Array.isArray(actual) && declared.length === actual.length) {
    return declared.flatMap((value, index) => diffValues(`${path}[${index}]`, value, actual[index]));
  }
  const values = { declared: reportedValue(declared), actual: reportedValue(actual) };
  const text = JSON.stringify(values);
  return [
    {
      path,
      ...(values.declared !== undefined && { declared: values.declared }),
      ...(values.actual !== undefined && { actual: values.actual }),
      ...(text.includes(secretText) && { secret: true as const }),
      ...(text.includes(unknownText) && { unknown: true as const }),
    },
  ];
}

/** Returns a value as reports show it. Null counts as absent, because the engine does not store null. */
function reportedValue(value: unknown): Json | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === unknownValue) return unknownText;
  if (isSealed(value)) return secretText;
  if (Array.isArray(value)) return value.map((entry) => reportedValue(entry) ?? null);
  if (isPlainObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, reportedValue(one) ?? null]));
  }
  return value as Json;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !isSealed(value);
}

function memberPath(path: string, key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}
