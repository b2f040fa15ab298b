import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { issuesText } from "../../contract/messages";
import type { Properties } from "../run/state-entry";
import { unknownValue } from "../run/unknown-value";
import { logicalName } from "../run/urn";
import { hiddenInputs } from "./hidden";
import type { Fault } from "./protocol";

/** What of a definition decides which differences matter. */
interface Comparable {
  readonly args: z.ZodObject;
  readonly replaceOn: readonly string[];
  readonly ignoreChanges?: readonly string[];
  readonly adoptedWithout?: readonly string[];
}

/** Which arguments differ so that it matters, and which of them need a replacement. */
export function compare(definition: Comparable, id: string, olds: Properties, news: Properties) {
  const changed = Object.keys(definition.args.shape).filter((key) => hasChanged(key, id, olds, news));
  const asked = news.__replaceOn ?? [];
  const forced = changed.filter((key) => asked.some((path) => differsAt(path, key, olds, news)));
  const without = [
    ...(definition.ignoreChanges ?? []),
    ...(isAdopted(id, news) ? (definition.adoptedWithout ?? []) : []),
  ];
  const effective = changed.filter((key) => !without.includes(key) || forced.includes(key));
  const replaces = effective.filter((key) =>
    key === "existingId" ? !containsUnknown(news[key]) : [...definition.replaceOn, ...forced].includes(key),
  );
  return { effective, replaces };
}

/** Whether the object is the adopted one, as far as that is known yet. */
function isAdopted(id: string, { existingId }: Properties): boolean {
  return existingId === id || containsUnknown(existingId);
}

/** Whether an argument differs from what the state holds. */
function hasChanged(key: string, id: string, olds: Properties, news: Properties): boolean {
  if (key === "existingId") return news[key] !== undefined && news[key] !== id;
  // The engine keeps no null, so that null and absent are the same to it.
  return !isDeepStrictEqual(olds[key] ?? null, news[key] ?? null);
}

/** A step of a property path: `["a key"]` with its escapes, `[0]`, or a name up to the next dot or bracket. */
const pathStep = /\["((?:\\.|[^"\\])*)"\]|\[([^\]]*)\]|([^.[\]]+)/g;

/** The keys of a property path, as the engine reads it: `attributeSchema["a.b"]` has two. */
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

/** The arguments with what was left out filled in. */
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
 * The arguments with a name. Where the program gives none it is the logical name under which the resource was first
 * declared, so that an alias renames nothing.
 */
export function withName(schema: z.ZodObject, olds: Properties, news: Properties): Properties {
  if (!("name" in schema.shape) || news.name !== undefined) return news;
  const current = logicalName(news.__urn);
  const former = olds.__named ? undefined : (olds.name as string | undefined);
  const first = olds.__firstName ?? (logicalName(olds.__urn) || (former ?? current));
  return { ...news, name: first, ...(first !== current && { __firstName: first }) };
}

/** The arguments with those that stay unknown, for what they come from has failed. */
export function withUnresolved({ __unresolved = [], ...given }: Properties): Properties {
  return { ...given, ...Object.fromEntries(__unresolved.map((key) => [key, unknownValue])) };
}

/** The arguments without those that are not known, or hold what is not. */
export function withoutUnknown(given: Properties): Properties {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => !containsUnknown(value)));
}

/**
 * What is wrong with arguments; whatever is not known yet is left alone.
 * Without a property of its own, for beside one the engine would print the value.
 */
export function faults(schema: z.ZodObject, given: Properties): Fault[] {
  const args = Object.fromEntries(Object.entries(given).filter(([key]) => !hiddenInputs.includes(key)));
  const issues = schema.safeParse(args).error?.issues ?? [];
  return issues
    .filter(
      (issue) =>
        issue.code === "unrecognized_keys" ||
        !containsUnknown(issue.path.reduce<unknown>((value, key) => member(value, key), args)),
    )
    .map((issue) => ({ property: "", reason: issuesText([issue], schema) }));
}

/** Every reason to refuse arguments: what the resource itself refuses, and the faults that it does not name already. */
export function checkFailures(schema: z.ZodObject, given: Properties, refused: string | undefined): Fault[] {
  const further = faults(schema, given).filter(
    ({ reason }) => !refused?.includes(reason.split(/\W/, 1)[0] as string),
  );
  return refused ? [{ property: "", reason: refused }, ...further] : further;
}

function member(value: unknown, key: PropertyKey): unknown {
  return typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : value;
}

/** Whether a value is not known yet, or a part of it. */
export function containsUnknown(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).some(containsUnknown);
  return value === unknownValue;
}

/** The arguments among the properties of a state. */
export function argumentsIn(properties: Properties, keys: readonly string[]): Properties {
  const wanted = [...keys, "__urn", "__firstName"].filter((key) => properties[key] !== undefined);
  return Object.fromEntries(wanted.map((key) => [key, properties[key]]));
}

/** Of what a resource is declared with, the fields that a schema names: never the hidden ones. */
export function fieldsOf<S extends z.ZodObject>({ shape }: S, args: z.output<S> | object): z.output<S> {
  return Object.fromEntries(Object.entries(args).filter(([key]) => key in shape)) as z.output<S>;
}
