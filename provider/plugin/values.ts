import { isDeepStrictEqual } from "node:util";
import { type JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb";
import { isSealed, seal } from "../run/sealed-value";
import type { Properties } from "../run/state-entry";

/** Properties as the engine sends them: secret values are sealed. */
export function fromStruct(struct: Struct | undefined): Properties {
  return (struct?.toJavaScript() ?? {}) as Properties;
}

/** Properties as the engine takes them; what is undefined is left out. */
export function toStruct(values: object): Struct {
  return Struct.fromJavaScript(JSON.parse(JSON.stringify(values)) as Record<string, JavaScriptValue>);
}

/** Removes top-level properties that are null: the engine and other languages treat null as absent. */
export function withoutNullProperties(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== null));
}

/** The same value in the clear, for the lifecycles. */
export function unsealed<T>(value: T): T {
  return opened(value) as T;
}

function opened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(opened);
  if (!hasMembers(value)) return value;
  if (isSealed(value)) return opened(value.value);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, opened(inner)]));
}

/** Whether a value is secret, or a part of it. */
function holdsSecret(value: unknown): boolean {
  return isSealed(value) || (hasMembers(value) && Object.values(value).some(holdsSecret));
}

/** The secret values among properties, by the names of what they are in. */
export function secretsIn(properties: Properties): Properties {
  const found = Object.entries(properties).map(([key, value]) => [key, [...sealedIn(value)]] as const);
  return Object.fromEntries(found.filter(([, values]) => values.length > 0));
}

function* sealedIn(value: unknown): Generator<unknown> {
  if (isSealed(value)) yield opened(value);
  else if (hasMembers(value)) for (const inner of Object.values(value)) yield* sealedIn(inner);
}

/**
 * Seals what was secret where the values come from: the news before the olds. A value that is none of theirs may hold a
 * part of one, so that it is sealed where any of them was.
 */
export function sealedLike(values: object, ...origins: readonly Properties[]): Properties {
  const sealed = Object.entries(values).map(([key, value]) => {
    const candidates = origins.flatMap((origin) => (origin[key] === undefined ? [] : [origin[key]]));
    const origin = candidates.find((one) => isDeepStrictEqual(opened(one), value));
    return [key, sealedBy(value, origin ?? candidates.find(holdsSecret))];
  });
  return Object.fromEntries(sealed);
}

function sealedBy(value: unknown, origin: unknown): unknown {
  if (value == null || !holdsSecret(origin)) return value;
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

/** Seals the named values. */
export function withSealed(values: Properties, keys: readonly string[]): Properties {
  const sealed = keys.filter((key) => values[key] != null).map((key) => [key, seal(values[key])]);
  return { ...values, ...Object.fromEntries(sealed) };
}

/** Whether a value is an object or an array. */
export function hasMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
