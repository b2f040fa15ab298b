import { z } from "zod";
import { limits } from "./limits";
import { issueText } from "./messages";

/** Any value that JSON can carry. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * A map of JSON values whose keys belong to the user: attribute names, parameter names. They are never renamed.
 * Its values are `unknown` because TypeScript cannot lift a recursive type into Pulumi's outputs.
 */
export type JsonMap = Readonly<Record<string, unknown>>;

/** Other wire keys under which a service has been seen to answer a field. */
export const aliases = z.registry<{ wireKeys: readonly string[] }>();

/** Marks a map whose entries lie beside its sibling fields on the wire instead of under a key of their own. */
export const inlined = z.registry<{ inlined: true }>();

/** What another service may accept in place of a schema that is our own service's choice. */
export const tolerantVariants = new WeakMap<z.core.$ZodType, z.ZodType>();

/** Marks a schema as our own service's choice, where another one may accept all that a wider one does. */
export function withTolerant<S extends z.ZodType>(own: S, accepted: z.ZodType): S {
  tolerantVariants.set(own, accepted);
  return own;
}

/** The same schema with a maximum of our own service. */
export function atMost<S extends z.ZodType & { max(most: number): z.ZodType }>(schema: S, most: number): S {
  return withTolerant(schema.max(most) as S, schema);
}

/** Text that every database can keep; PostgreSQL takes no NUL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what is kept out, and validators of OpenAPI read \x00 but not \0.
const text = z.string().regex(/^[^\x00]*$/, "expected text without NUL characters");

/** An id that names what is there already; the specification shows no format, so any non-empty text is one. */
export const id = text.min(1);

/** An id in a request: of a user or an item, or of anything that the service has named. */
export const recordId = atMost(id, limits.idCharacters);

/** A name for people, on one line. */
export const label = atMost(
  z
    .string()
    .min(1)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is kept out.
    .regex(/^[^\x00-\x1f\x7f-\x9f]*$/, "expected text on one line, without control characters")
    .regex(/\S/, "expected more than white space"),
  limits.nameCharacters,
);

/** The type of an event. */
export const eventType = atMost(id, limits.nameCharacters);

/** The name of an attribute. */
export const attributeName = text.min(1, "expected a name, received the empty text");

/** A reply field that is not needed: a service may leave it out, and one of another kind is as if it were left out. */
export function maybe<T extends z.ZodType>(schema: T): z.ZodCatch<z.ZodOptional<z.ZodNullable<T>>> {
  return schema.nullish().catch(undefined);
}

/** The same field, also accepted under another wire key. */
export function withAliases<T extends z.ZodType>(schema: T, ...wireKeys: string[]): T {
  const copy = schema.clone() as T;
  aliases.add(copy, { wireKeys });
  return copy;
}

/** The same map, laid out beside its sibling fields on the wire. */
export function inline<T extends z.ZodType>(schema: T): T {
  const copy = schema.clone() as T;
  inlined.add(copy, { inlined: true });
  return copy;
}

/**
 * A map with the user's own keys.
 * zod's record drops a key named `__proto__` without a word, so entries are checked here and passed on as they are.
 */
export function mapOf<V>(
  value: z.ZodType<V>,
  { key: keyOf, most }: { readonly key?: z.ZodString; readonly most?: number } = {},
): z.ZodType<Readonly<Record<string, V>>> {
  const schemaOf = (schema: z.ZodType) => {
    const { $schema: _, ...own } = z.toJSONSchema(schema, { io: "input" });
    return own;
  };
  return customSchema<Readonly<Record<string, V>>>(
    function* (map) {
      if (!isPlainObject(map)) return yield { message: "expected an object", path: [] };
      const keys = Object.keys(map);
      if (most !== undefined && keys.length > most)
        return yield { message: `expected at most ${most} entries, received ${keys.length}`, path: [] };
      for (const key of keys) {
        const named = keyOf?.safeParse(key).error?.issues ?? [];
        for (const issue of [...named, ...(value.safeParse(map[key]).error?.issues ?? [])])
          yield { message: issueText(issue), path: [key, ...issue.path] };
      }
    },
    {
      type: "object",
      ...(keyOf ? { propertyNames: schemaOf(keyOf) } : {}),
      ...(most === undefined ? {} : { maxProperties: most }),
      additionalProperties: schemaOf(value),
    },
  );
}

/** Any JSON value, checked to the bottom: what JSON would drop or alter (undefined, NaN, dates) is refused. */
export const json = customSchema<Json>((value) => problemsIn(value), {});

/** A map from the user's own keys to any JSON values. */
export const jsonMap = jsonMapOfDepth(Number.POSITIVE_INFINITY);

/** The attributes of a record: a map to any JSON values, nested no deeper than its limit. */
export const attributes = withTolerant(jsonMapOfDepth(limits.attributeDepth), jsonMap);

interface Problem {
  readonly message: string;
  readonly path: PropertyKey[];
}

/** A schema that passes its value on untouched, with the JSON schema of what its check accepts. */
function customSchema<T>(faults: (value: unknown) => Iterable<Problem>, jsonSchema: object): z.ZodType<T> {
  return z
    .unknown()
    .superRefine((value, context) => {
      for (const fault of faults(value)) context.addIssue({ code: "custom", ...fault });
    })
    .meta({ override: jsonSchema }) as z.ZodType<unknown> as z.ZodType<T>;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function jsonMapOfDepth(depth: number): z.ZodType<JsonMap> {
  return customSchema<JsonMap>(
    (value) =>
      isPlainObject(value) ? problemsIn(value, depth) : [{ message: "expected an object", path: [] }],
    { type: "object", additionalProperties: {} },
  );
}

function problemsIn(value: unknown, depth = Number.POSITIVE_INFINITY): Problem[] {
  const fault = firstProblem(value, depth);
  return fault ? [{ ...fault, path: fault.path.reverse() }] : [];
}

/** The first fault, with its path from the bottom up: most values have none, and paths are costly to carry. */
function firstProblem(value: unknown, depth: number): Problem | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number") {
    if (Number.isFinite(value)) return undefined;
    return { message: `expected a finite number, received ${value}`, path: [] };
  }
  if (!Array.isArray(value) && !isPlainObject(value)) {
    const received = typeof value === "object" ? value.constructor.name : typeof value;
    return { message: `expected a JSON value, received ${received}`, path: [] };
  }
  if (depth === 0)
    return { message: `expected at most ${limits.attributeDepth} levels of arrays and objects`, path: [] };
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  for (const key of keys) {
    const fault = firstProblem((value as Record<PropertyKey, unknown>)[key], depth - 1);
    if (fault) {
      fault.path.push(key);
      return fault;
    }
  }
  return undefined;
}
