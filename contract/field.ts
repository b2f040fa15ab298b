import { z } from "zod";
import { limits } from "./limits";
import { issueText } from "./messages";

/** Any value that JSON can carry. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * A map of JSON values. Its keys are chosen by the user, such as attribute names, and are never renamed.
 * The values are `unknown` because TypeScript cannot convert a recursive type to Pulumi outputs.
 */
export type JsonMap = Readonly<Record<string, unknown>>;

/** Additional wire keys under which some services return a field. */
export const aliases = z.registry<{ wireKeys: readonly string[] }>();

/** Marks maps whose entries are on the same level as their sibling fields on the wire. */
export const inlined = z.registry<{ inlined: true }>();

/** Wider schemas for other services. The keys are the stricter schemas of the service in this package. */
export const tolerantVariants = new WeakMap<z.core.$ZodType, z.ZodType>();

/** Registers a wider schema that `tolerant` uses instead of the strict one, because other services may accept more. */
export function withTolerant<S extends z.ZodType>(strict: S, wide: z.ZodType): S {
  tolerantVariants.set(strict, wide);
  return strict;
}

/** Adds a maximum that applies only to the service in this package. */
export function atMost<S extends z.ZodType & { max(most: number): z.ZodType }>(schema: S, most: number): S {
  return withTolerant(schema.max(most) as S, schema);
}

/** Text without NUL characters, which PostgreSQL cannot store. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the rule excludes NUL; OpenAPI validators read \x00 but not \0.
const text = z.string().regex(/^[^\x00]*$/, "expected text without NUL characters");

/** Id of an existing object. The specification defines no format, so any non-empty text is valid. */
export const id = text.min(1);

/** An id in a request. */
export const recordId = atMost(id, limits.idCharacters);

/** A display name on one line. */
export const label = atMost(
  z
    .string()
    .min(1)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the rule excludes control characters.
    .regex(/^[^\x00-\x1f\x7f-\x9f]*$/, "expected text on one line, without control characters")
    .regex(/\S/, "expected more than white space"),
  limits.nameCharacters,
);

/** Type of an event. */
export const eventType = atMost(id, limits.nameCharacters);

/** Name of an attribute. */
export const attributeName = text.min(1, "expected a name, received empty text");

/** An optional reply field. A value of the wrong type is treated as missing. */
export function maybe<T extends z.ZodType>(schema: T): z.ZodCatch<z.ZodOptional<z.ZodNullable<T>>> {
  return schema.nullish().catch(undefined);
}

/** Returns a copy of a field schema. The field is also read from the given additional wire keys. */
export function withAliases<T extends z.ZodType>(schema: T, ...wireKeys: string[]): T {
  const copy = schema.clone() as T;
  aliases.add(copy, { wireKeys });
  return copy;
}

/** Returns a copy of a map schema. On the wire, its entries are on the same level as its sibling fields. */
export function inline<T extends z.ZodType>(schema: T): T {
  const copy = schema.clone() as T;
  inlined.add(copy, { inlined: true });
  return copy;
}

/**
 * A map with keys chosen by the user.
 * This does not use zod's record, which silently drops a key named `__proto__`.
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

/**
 * Any JSON value. Values that JSON would drop or change, such as undefined, NaN and dates, are rejected at any depth.
 */
export const json = customSchema<Json>((value) => problemsIn(value), {});

/** A map of JSON values with keys chosen by the user. */
export const jsonMap = jsonMapOfDepth(Number.POSITIVE_INFINITY);

/** Attributes of a record: a map of JSON values with limited nesting. */
export const attributes = withTolerant(jsonMapOfDepth(limits.attributeDepth), jsonMap);

interface Problem {
  readonly message: string;
  readonly path: PropertyKey[];
}

/** A schema that validates with a function and returns the value unchanged. */
function customSchema<T>(
  problemsOf: (value: unknown) => Iterable<Problem>,
  jsonSchema: object,
): z.ZodType<T> {
  return z
    .unknown()
    .superRefine((value, context) => {
      for (const problem of problemsOf(value)) context.addIssue({ code: "custom", ...problem });
    })
    .meta({ override: jsonSchema }) as z.ZodType<unknown> as z.ZodType<T>;
}

/** Whether a value is an object and not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
  const problem = firstProblem(value, depth);
  return problem ? [{ ...problem, path: problem.path.reverse() }] : [];
}

/**
 * Returns the first problem. Its path is reversed, because building paths on the way down would slow down valid values.
 */
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
    const problem = firstProblem((value as Record<PropertyKey, unknown>)[key], depth - 1);
    if (problem) {
      problem.path.push(key);
      return problem;
    }
  }
  return undefined;
}
