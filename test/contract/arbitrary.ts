import fc from "fast-check";
import { z } from "zod";
import { inlined } from "../../contract/field";

/** Keys that break careless code: wire names, prototype keys, the empty key, unicode. */
export const awkwardKey = fc.oneof(
  fc.constantFrom("user_id", "camelCase", "__proto__", "constructor", "toString", "", "naïve 名", "a.b", "0"),
  fc.string({ unit: "grapheme" }),
);

const awkwardJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, true, 0, -0.5, 1e21),
    fc.string(),
    fc.array(tie("value"), { maxLength: 3 }),
    mapWith(tie("value")),
  ),
})).value;

/** A map with awkward keys. Each is an own property, including `__proto__`. */
export function mapWith(value: fc.Arbitrary<unknown>): fc.Arbitrary<Record<string, unknown>> {
  return fc
    .array(fc.tuple(awkwardKey, value), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries));
}

/** Values that a schema of the contract accepts. */
export function arbitraryOf(schema: z.ZodType): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodObject) return arbitraryObject(schema);
  if (schema instanceof z.ZodArray) {
    return fc.array(arbitraryOf(schema.element as z.ZodType), { minLength: 1, maxLength: 3 });
  }
  if (schema instanceof z.ZodDiscriminatedUnion || schema instanceof z.ZodUnion) {
    return fc.oneof(...(schema.options as z.ZodType[]).map(arbitraryOf));
  }
  if (schema instanceof z.ZodOptional) return fc.option(inner(schema), { nil: undefined });
  if (schema instanceof z.ZodNullable) return fc.option(inner(schema), { nil: null });
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodCatch) return inner(schema);
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...schema.options);
  if (schema instanceof z.ZodLiteral) return fc.constantFrom(...schema.values);
  if (schema instanceof z.ZodString) return fc.string({ minLength: 1 }).filter(accepts(schema));
  if (schema instanceof z.ZodBoolean) return fc.boolean();
  if (schema instanceof z.ZodNumber) {
    const [min, max] = [schema.minValue, schema.maxValue].map((end) =>
      Number.isFinite(end) ? end : undefined,
    );
    return schema.format === "safeint"
      ? fc.integer({ min: Math.max(min ?? 0, 0), max: Math.min(max ?? 2 ** 31, 2 ** 31 - 1) })
      : fc
          .double({
            noNaN: true,
            noDefaultInfinity: true,
            ...(min != null ? { min } : {}),
            ...(max != null ? { max } : {}),
          })
          .filter(accepts(schema));
  }
  return mapOrJson(schema);
}

function inner(schema: z.ZodOptional | z.ZodNullable | z.ZodDefault | z.ZodCatch): fc.Arbitrary<unknown> {
  return arbitraryOf(schema.def.innerType as z.ZodType);
}

function arbitraryObject(schema: z.ZodObject): fc.Arbitrary<unknown> {
  const shape = schema.shape as Record<string, z.ZodType>;
  const fields = Object.keys(shape).map((key) =>
    arbitraryOf(shape[key]).map((value) => [key, value] as const),
  );
  return fc
    .tuple(...fields)
    .map((entries) => Object.fromEntries(entries.filter(([, value]) => value !== undefined)))
    .filter((made) => !schema.def.checks?.length || schema.safeParse(made).success);
}

function accepts(schema: z.ZodType): (value: unknown) => boolean {
  return (value) => schema.safeParse(value).success;
}

/** Generates values for maps and JSON values of the contract, based on their JSON schema. */
function mapOrJson(schema: z.ZodType): fc.Arbitrary<unknown> {
  const { type, additionalProperties } = (schema.meta()?.override ?? {}) as {
    type?: string;
    additionalProperties?: { enum?: string[]; type?: string; minimum?: number; maximum?: number };
  };
  if (type !== "object") return awkwardJson;
  if (additionalProperties?.enum)
    return mapWith(fc.constantFrom(...additionalProperties.enum)).filter(accepts(schema));
  if (additionalProperties?.type === "string") return mapWith(fc.string());
  if (additionalProperties?.type === "number") {
    const { minimum: min = 0, maximum: max = 1 } = additionalProperties;
    return mapWith(fc.double({ min, max, noNaN: true })).filter(accepts(schema));
  }
  // On the wire, an inlined map is on the level of its siblings, so it cannot use their keys.
  return inlined.has(schema)
    ? mapWith(awkwardJson).map(({ item_id: _, ...rest }) => rest)
    : mapWith(awkwardJson);
}
