import { z } from "zod";
import { aliases, inlined, isObject } from "./field";

type Convert = (value: unknown) => unknown;
type Direction = "encode" | "decode";
type Names = [string, ...string[]];

const converters = {
  encode: oncePerSchema((schema) => makeConverter("encode", schema)),
  decode: oncePerSchema((schema) => makeConverter("decode", schema)),
};

/** Returns a function that computes its result only once for each schema. */
export function oncePerSchema<T extends object>(make: (schema: z.ZodType) => T): (schema: z.ZodType) => T {
  const results = new WeakMap<z.ZodType, T>();
  return (schema) => {
    const result = results.get(schema) ?? make(schema);
    results.set(schema, result);
    return result;
  };
}

/** Returns the name of a field on the wire: `num_shards` for `numShards`. */
export function wireName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Converts a validated value to its wire format. */
export function encode<T extends z.ZodType>(schema: T, value: z.output<T>): unknown {
  return converters.encode(schema)(value);
}

/** Converts a value from the wire to the field names of programs. Unknown fields are dropped. */
export function decode(schema: z.ZodType, value: unknown): unknown {
  return converters.decode(schema)(value);
}

/** Returns the schema with wire names, to validate request bodies and to generate the OpenAPI document. */
export const wireSchema = oncePerSchema(makeWireSchema);

/**
 * Renames the fields of objects, also in arrays, unions and wrappers. Other values, including maps with user-chosen
 * keys, stay unchanged.
 */
function makeConverter(direction: Direction, schema: z.ZodType): Convert {
  if (schema instanceof z.ZodObject) return objectConverter(direction, schema);
  if (schema instanceof z.ZodArray) {
    const element = converters[direction](schema.element as z.ZodType);
    return (value) => (Array.isArray(value) ? value.map(element) : value);
  }
  if (schema instanceof z.ZodDiscriminatedUnion) return unionConverter(direction, schema);
  const inner = innerSchema(schema);
  if (inner) return converters[direction](inner);
  return (value) => value;
}

function objectConverter(direction: Direction, schema: z.ZodObject): Convert {
  const fields = Object.entries(schema.shape as Record<string, z.ZodType>)
    .filter(([, field]) => !inlined.has(field))
    .map(([key, field]) => {
      const wire: Names = [wireName(key), ...aliasesOf(field)];
      const convert = converters[direction](field);
      return direction === "encode"
        ? { from: [key] as Names, to: wire[0], convert }
        : { from: wire, to: key, convert };
    });
  const inlinedKey = Object.keys(schema.shape).find((key) => inlined.has(schema.shape[key] as z.ZodType));
  const known = new Set(fields.flatMap((field) => field.from));
  return (value) => {
    if (!isObject(value)) return value;
    const result: Record<string, unknown> = {};
    for (const { from, to, convert } of fields) {
      const key = from.length === 1 ? from[0] : givenName(value, from);
      const given = Object.hasOwn(value, key) ? value[key] : undefined;
      if (given !== undefined) result[to] = convert(given);
    }
    if (inlinedKey === undefined) return result;
    if (direction === "encode") return { ...(value[inlinedKey] as object), ...result };
    const rest = Object.entries(value).filter(([key]) => !known.has(key));
    return { ...result, [inlinedKey]: Object.fromEntries(rest) };
  };
}

/** Returns the first wire name whose value is not null, or else the first name that is present. */
function givenName(value: Record<string, unknown>, names: Names): string {
  const given = names.filter((name) => Object.hasOwn(value, name) && value[name] !== undefined);
  return given.find((name) => value[name] !== null) ?? given[0] ?? names[0];
}

function unionConverter(direction: Direction, schema: z.ZodDiscriminatedUnion): Convert {
  const key = schema.def.discriminator;
  const options = schema.options as z.ZodObject[];
  const branches = options.flatMap((option) =>
    [...((option.shape[key] as z.ZodLiteral).values as Set<unknown>)].map((literal) => ({
      literal,
      convert: converters[direction](option),
    })),
  );
  const from = direction === "encode" ? key : wireName(key);
  return (value) => {
    const branch = branches.find(({ literal }) => isObject(value) && value[from] === literal);
    return branch ? branch.convert(value) : value;
  };
}

function makeWireSchema(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape as Record<string, z.ZodType>);
    const shape = Object.fromEntries(
      fields
        .filter(([, field]) => !inlined.has(field))
        .map(([key, field]) => [wireName(key), wireSchema(field)]),
    );
    const spread = fields.some(([, field]) => inlined.has(field));
    const catchall = spread ? z.unknown() : schema.def.catchall;
    const { checks = [], ...def } = schema.def;
    const twin = new z.ZodObject({ ...def, shape, ...(catchall ? { catchall } : {}) });
    return withMetaOf(schema, checks.length > 0 ? withChecksOf(schema, twin) : twin);
  }
  if (schema instanceof z.ZodArray) {
    return withMetaOf(
      schema,
      schema.clone({ ...schema.def, element: wireSchema(schema.element as z.ZodType) }),
    );
  }
  if (schema instanceof z.ZodDiscriminatedUnion) {
    const options = (schema.options as z.ZodObject[]).map((option) => wireSchema(option) as z.ZodObject);
    const [first, ...others] = options as [z.ZodObject, ...z.ZodObject[]];
    return withMetaOf(schema, z.discriminatedUnion(wireName(schema.def.discriminator), [first, ...others]));
  }
  const inner = innerSchema(schema);
  if (!inner) return schema;
  const twin = wireSchema(inner);
  return twin === inner ? schema : withMetaOf(schema, withInnerSchema(schema, twin));
}

/**
 * Adds the checks that involve several fields. They run on the decoded value, because they use the field names of
 * programs.
 */
function withChecksOf(schema: z.ZodObject, twin: z.ZodObject): z.ZodObject {
  // A schema with only the checks. The twin reports the problems of the fields.
  const checks = new z.ZodObject({ ...schema.def, shape: {}, catchall: z.unknown() });
  return twin.superRefine((value, context) => {
    for (const { message, path } of checks.safeParse(decode(schema, value)).error?.issues ?? [])
      context.addIssue({
        code: "custom",
        message,
        path: path.map((key) => (typeof key === "string" ? wireName(key) : key)),
      });
  });
}

function aliasesOf(field: z.ZodType): readonly string[] {
  const inner = innerSchema(field);
  return aliases.get(field)?.wireKeys ?? (inner ? aliasesOf(inner) : []);
}

/** Returns the schema inside a wrapper such as `default`, or undefined. */
export function innerSchema(schema: z.ZodType): z.ZodType | undefined {
  const wrappers = [z.ZodOptional, z.ZodNullable, z.ZodDefault, z.ZodCatch];
  const wraps = wrappers.some((wrapper) => schema instanceof wrapper);
  return wraps ? ((schema as z.ZodOptional).def.innerType as z.ZodType) : undefined;
}

/** Returns the same wrapper around another schema. */
export function withInnerSchema(schema: z.ZodType, innerType: z.ZodType): z.ZodType {
  return (schema as z.ZodOptional).clone({ ...(schema as z.ZodOptional).def, innerType });
}

function withMetaOf(schema: z.ZodType, twin: z.ZodType): z.ZodType {
  const meta = schema.meta();
  return meta ? twin.meta(meta) : twin;
}
