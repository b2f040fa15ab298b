import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { issuesText } from "../../contract/messages";
import type { Properties } from "../run/state-entry";
import { unknownValue } from "../run/unknown-value";
import { logicalName } from "../run/urn";
import type { Definition } from "./definition";
import { hiddenInputs } from "./hidden";

/** Returns the changed arguments whose change has an effect, and which of them require a replacement. */
export function compare(definition: Definition, id: string, olds: Properties, news: Properties) {
  const changed = Object.keys(definition.args.shape).filter((key) => hasChanged(key, id, olds, news));
  const replaceOnChanges = news.__replaceOn ?? [];
  const forced = changed.filter((key) => replaceOnChanges.some((path) => differsAt(path, key, olds, news)));
  const ignored = [
    ...(definition.ignoreChanges ?? []),
    ...(isAdopted(id, news) ? (definition.adoptedWithout ?? []) : []),
  ];
  const effective = changed.filter((key) => !ignored.includes(key) || forced.includes(key));
  const replaces = effective.filter((key) =>
    key === "existingId" ? !containsUnknown(news[key]) : [...definition.replaceOn, ...forced].includes(key),
  );
  return { effective, replaces };
}

/** Whether the object is adopted, or may be adopted because `existingId` is not known yet. */
function isAdopted(id: string, { existingId }: Properties): boolean {
  return existingId === id || containsUnknown(existingId);
}

/** Whether an argument differs from the state. */
function hasChanged(key: string, id: string, olds: Properties, news: Properties): boolean {
  if (key === "existingId") return news[key] !== undefined && news[key] !== id;
  // The engine drops null values, so null equals absent.
  return !isDeepStrictEqual(olds[key] ?? null, news[key] ?? null);
}

/** One step of a property path: `["a key"]` with escapes, `[0]`, or a name up to the next dot or bracket. */
const pathStep = /\["((?:\\.|[^"\\])*)"\]|\[([^\]]*)\]|([^.[\]]+)/g;

/** Splits a property path as the engine does: `attributeSchema["a.b"]` has two keys. */
function stepsOf(path: string): string[] {
  return [...path.matchAll(pathStep)].map(
    ([, quoted, index, name]) => quoted?.replace(/\\(.)/g, "$1") ?? index ?? name ?? "",
  );
}

/** Whether an argument differs at a path of the option `replaceOnChanges`, such as `attributeSchema.age` or `*`. */
function differsAt(path: string, key: string, olds: Properties, news: Properties): boolean {
  const [first, ...rest] = stepsOf(path);
  if (first !== "*" && first !== key) return false;
  const differs = (before: unknown, after: unknown, parts: readonly string[]): boolean => {
    const [part, ...deeper] = parts;
    if (part === undefined) return !isDeepStrictEqual(before ?? null, after ?? null);
    const names = part === "*" ? [...new Set([...keysOf(before), ...keysOf(after)])] : [part];
    return names.some((name) => differs(member(before, name), member(after, name), deeper));
  };
  return differs(olds[key], news[key], rest);
}

function keysOf(value: unknown): string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

/** Adds default values for missing arguments. */
export function withDefaults(schema: z.ZodObject, given: Properties): Properties {
  const inputs = { ...given };
  for (const [key, field] of Object.entries(schema.shape as Record<string, z.ZodType>)) {
    if (inputs[key] === undefined) {
      const fallback = field.safeParse(undefined);
      if (fallback.success && fallback.data !== undefined) inputs[key] = fallback.data;
    }
  }
  return inputs;
}

/**
 * Adds a name if the program does not set one: the logical name under which the resource was first declared. An alias
 * therefore does not rename the object.
 */
export function withName(schema: z.ZodObject, olds: Properties, news: Properties): Properties {
  if (!("name" in schema.shape) || news.name !== undefined) return news;
  const current = logicalName(news.__urn);
  const former = olds.__named ? undefined : (olds.name as string | undefined);
  const first = olds.__firstName ?? (logicalName(olds.__urn) || (former ?? current));
  return { ...news, name: first, ...(first !== current && { __firstName: first }) };
}

/** Marks arguments as unknown if a resource that they depend on has failed. */
export function withUnresolved({ __unresolved = [], ...given }: Properties): Properties {
  return { ...given, ...Object.fromEntries(__unresolved.map((key) => [key, unknownValue])) };
}

/** Removes arguments that are unknown or contain an unknown value. */
export function withoutUnknown(given: Properties): Properties {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => !containsUnknown(value)));
}

/** Returns the faults that a schema finds in arguments, except in unknown values. */
function schemaFaults(schema: z.ZodObject, given: Properties): string[] {
  const args = Object.fromEntries(Object.entries(given).filter(([key]) => !hiddenInputs.includes(key)));
  const issues = schema.safeParse(args).error?.issues ?? [];
  return issues
    .filter(
      (issue) =>
        issue.code === "unrecognized_keys" ||
        !containsUnknown(issue.path.reduce<unknown>((value, key) => member(value, key), args)),
    )
    .map((issue) => issuesText([issue], schema));
}

/**
 * Returns all faults of the arguments: the error of the definition, and schema faults of arguments that the error does
 * not mention.
 */
export function checkFailures(schema: z.ZodObject, given: Properties, error: string | undefined): string[] {
  const faults = schemaFaults(schema, given);
  return error
    ? [error, ...faults.filter((fault) => !error.includes(fault.split(/\W/, 1)[0] as string))]
    : faults;
}

function member(value: unknown, key: PropertyKey): unknown {
  return typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : value;
}

/** Whether a value is unknown or contains an unknown value. */
export function containsUnknown(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).some(containsUnknown);
  return value === unknownValue;
}

/** Returns the arguments among the properties of a state entry. */
export function argumentsIn(properties: Properties, keys: readonly string[]): Properties {
  const wanted = [...keys, "__urn", "__firstName", "__sourceVersion"].filter(
    (key) => properties[key] !== undefined,
  );
  return Object.fromEntries(wanted.map((key) => [key, properties[key]]));
}

/** Returns the fields that have a value. Services, the engine and programs treat null as absent. */
export function knownFields<T extends object>(fields: T): { [Key in keyof T]?: NonNullable<T[Key]> } {
  const known = Object.entries(fields).filter(([, value]) => value != null);
  return Object.fromEntries(known) as { [Key in keyof T]?: NonNullable<T[Key]> };
}

/** Removes properties that are undefined, because the SDK cannot send them to the engine: "Unexpected struct type". */
export function withoutUndefined(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
}

/** Returns the arguments that a schema defines. Hidden properties are left out. */
export function fieldsOf<S extends z.ZodObject>({ shape }: S, args: z.output<S> | object): z.output<S> {
  return Object.fromEntries(Object.entries(args).filter(([key]) => key in shape)) as z.output<S>;
}
