import { z } from "zod";

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

/** Text that every database can keep; PostgreSQL takes no NUL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what is kept out, and validators of OpenAPI read \x00 but not \0.
const text = z.string().regex(/^[^\x00]*$/, "expected text without NUL characters");

/** An identifier; the specification shows no format, so any non-empty text is one. */
export const id = text.min(1);

/** A name for people; the specification shows no limit of length, so none is set here. */
export const label = text.min(1);

/** A reply field that is not needed: a service may leave it out, and one of another kind is as if it were left out. */
export function maybe<T extends z.ZodType>(schema: T): z.ZodCatch<z.ZodOptional<z.ZodNullable<T>>> {
  return schema.nullish().catch(undefined);
}

/** The same field, also accepted under another wire key. */
export function alsoUnder<T extends z.ZodType>(schema: T, ...wireKeys: string[]): T {
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
export function mapOf<V>(value: z.ZodType<V>): z.ZodType<Readonly<Record<string, V>>> {
  const { $schema: _, ...entries } = z.toJSONSchema(value, { io: "input" });
  return checked<Readonly<Record<string, V>>>(
    function* (map) {
      if (!isPlainObject(map)) return yield { message: "expected an object", path: [] };
      for (const key of Object.keys(map)) {
        for (const issue of value.safeParse(map[key]).error?.issues ?? []) {
          yield { message: issue.message, path: [key, ...issue.path] };
        }
      }
    },
    { type: "object", additionalProperties: entries },
  );
}

/** Any JSON value, checked to the bottom: what JSON would drop or alter (undefined, NaN, dates) is refused. */
export const json = checked<Json>((value) => notJson(value, []), {});

/** A map from the user's own keys to any JSON values. */
export const jsonMap = checked<JsonMap>(
  (value) => (isPlainObject(value) ? notJson(value, []) : [{ message: "expected an object", path: [] }]),
  { type: "object", additionalProperties: {} },
);

interface Fault {
  readonly message: string;
  readonly path: PropertyKey[];
}

/** A schema that passes its value on untouched, with the JSON schema that tells what its check accepts. */
function checked<T>(faults: (value: unknown) => Iterable<Fault>, jsonSchema: object): z.ZodType<T> {
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

function* notJson(value: unknown, path: PropertyKey[]): Iterable<Fault> {
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) yield { message: `expected a finite number, received ${value}`, path };
  } else if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) yield* notJson(member, [...path, index]);
  } else if (isPlainObject(value)) {
    for (const key of Object.keys(value)) yield* notJson(value[key], [...path, key]);
  } else {
    const received = typeof value === "object" ? value.constructor.name : typeof value;
    yield { message: `expected a JSON value, received ${received}`, path };
  }
}
