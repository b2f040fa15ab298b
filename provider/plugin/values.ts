import { isDeepStrictEqual } from "node:util";
import { type JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb";
import { isSealed, seal } from "../run/sealed-value";
import type { Properties } from "../run/state-entry";

/** Converts properties from the engine's format. Secret values are sealed. */
export function fromStruct(struct: Struct | undefined): Properties {
  return (struct?.toJavaScript() ?? {}) as Properties;
}

/** Converts properties to the engine's format. Omits undefined values. */
export function toStruct(values: object): Struct {
  return Struct.fromJavaScript(JSON.parse(JSON.stringify(values)) as Record<string, JavaScriptValue>);
}

/** Unwraps sealed values, for the lifecycles. */
export function unsealed<T>(value: T): T;
export function unsealed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unsealed);
  if (!hasMembers(value)) return value;
  if (isSealed(value)) return unsealed(value.value);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unsealed(inner)]));
}

/** Whether a value or a part of it is secret. */
function containsSecret(value: unknown): boolean {
  return isSealed(value) || (hasMembers(value) && Object.values(value).some(containsSecret));
}

/** Returns the secret values in properties, by property name. */
export function secretsIn(properties: Properties): Properties {
  const found = Object.entries(properties).map(([key, value]) => [key, [...sealedIn(value)]] as const);
  return Object.fromEntries(found.filter(([, values]) => values.length > 0));
}

function* sealedIn(value: unknown): Generator<unknown> {
  if (isSealed(value)) yield unsealed(value);
  else if (hasMembers(value)) for (const inner of Object.values(value)) yield* sealedIn(inner);
}

/**
 * Seals values that are secret in `origins`, which are in order of precedence. A value that equals none of its origins
 * may contain a part of one, so it is sealed if any of them is secret.
 */
export function sealedLike(values: object, ...origins: readonly Properties[]): Properties {
  const sealed = Object.entries(values).map(([key, value]) => {
    const candidates = origins.flatMap((origin) => (origin[key] === undefined ? [] : [origin[key]]));
    const origin = candidates.find((one) => isDeepStrictEqual(unsealed(one), value));
    return [key, sealedBy(value, origin ?? candidates.find(containsSecret))];
  });
  return Object.fromEntries(sealed);
}

function sealedBy(value: unknown, origin: unknown): unknown {
  if (value == null || !containsSecret(origin)) return value;
  if (isSealed(origin) || !hasMembers(origin) || !hasMembers(value)) return seal(value);
  if (Array.isArray(value)) {
    if (!Array.isArray(origin) || origin.length !== value.length) return seal(value);
    return value.map((inner, index) => sealedBy(inner, origin[index]));
  }
  const members = Object.entries(value).map(([key, inner]) => [
    key,
    sealedBy(inner, (origin as Record<string, unknown>)[key]),
  ]);
  return Object.fromEntries(members);
}

/** Seals the values of these keys. */
export function withSealed(values: Properties, keys: readonly string[]): Properties {
  const sealed = keys.filter((key) => values[key] != null).map((key) => [key, seal(values[key])]);
  return { ...values, ...Object.fromEntries(sealed) };
}

/** Whether a value is an object or an array. */
export function hasMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
