import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../contract/field";
import type { PropertyFinding } from "./finding";

type Json = NonNullable<PropertyFinding["declared"]>;
type Values = Readonly<Record<string, unknown>>;

/** The engine's mark of a value that is not known before other changes are made. */
const unknownMark = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
/** The engine's mark of values of a kind of their own, and of the secrets among them, which it has masked already. */
const mark = { key: "4dabf18193072939515e22adb298388d", secret: "1b47061264138c4ac30d75fd1eb44270" };

/** What stands in a report for a secret. */
export const secretText = "[secret]";
/** What stands in a report for a value that is not known yet. */
export const unknownText = "[not known yet]";

/** What differs between two sets of properties, path by path; private ones are left out. */
export function differences(declared: Values, actual: Values): PropertyFinding[] {
  const keys = [...new Set([...Object.keys(declared), ...Object.keys(actual)])].sort();
  return keys
    .filter((key) => !key.startsWith("__"))
    .flatMap((key) => diffValues(key, declared[key], actual[key]));
}

/** Properties that are secret on both sides: whether they differ is not shown, but may be why something changes. */
export function secretProperties(values: Values): PropertyFinding[] {
  return Object.entries(values)
    .filter(([key, value]) => !key.startsWith("__") && isSecret(value))
    .map(([path]) => ({ path, declared: secretText, actual: secretText, secret: true as const }));
}

function diffValues(path: string, declared: unknown, actual: unknown): PropertyFinding[] {
  if (isDeepStrictEqual(declared ?? null, actual ?? null)) return [];
  if (isRecord(declared) && isRecord(actual)) {
    const keys = [...new Set([...Object.keys(declared), ...Object.keys(actual)])].sort();
    return keys.flatMap((key) => diffValues(member(path, key), declared[key], actual[key]));
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

/** The engine keeps no null, so that null and absent are the same. */
function reportedValue(value: unknown): Json | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === unknownMark) return unknownText;
  if (isSecret(value)) return secretText;
  if (Array.isArray(value)) return value.map((entry) => reportedValue(entry) ?? null);
  if (isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [key, reportedValue(entry) ?? null]),
    );
  }
  return value as Json;
}

function isSecret(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    (value as Record<string, unknown>)[mark.key] === mark.secret
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !isSecret(value);
}

function member(path: string, key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}
