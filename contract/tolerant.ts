import { z } from "zod";
import { tolerantVariants } from "./field";
import { innerSchema, oncePerSchema, withInnerSchema } from "./wire";

/** Returns a schema without the rules that only the service in this package has. Other services may accept more. */
export function tolerant<T extends z.ZodType>(schema: T): T {
  return tolerantTwin(schema) as T;
}

const tolerantTwin = oncePerSchema((schema) => {
  const variant = variantOf(schema);
  return variant ? tolerant(variant) : withTolerantParts(schema);
});

/**
 * Returns the registered wider schema, also for copies. `describe` creates a copy whose parent is the registered
 * schema.
 */
function variantOf(schema: z.core.$ZodType): z.ZodType | undefined {
  const { parent } = schema._zod;
  return tolerantVariants.get(schema) ?? (parent && variantOf(parent));
}

function withTolerantParts(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape as Record<string, z.ZodType>);
    const shape = Object.fromEntries(fields.map(([key, field]) => [key, tolerant(field)]));
    return schema.clone({ ...schema.def, shape });
  }
  if (schema instanceof z.ZodArray)
    return schema.clone({ ...schema.def, element: tolerant(schema.element as z.ZodType) });
  if (schema instanceof z.ZodUnion)
    return schema.clone({ ...schema.def, options: schema.options.map((one) => tolerant(one as z.ZodType)) });
  const inner = innerSchema(schema);
  return inner ? withInnerSchema(schema, tolerant(inner)) : schema;
}
