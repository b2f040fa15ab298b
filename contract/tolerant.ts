import { z } from "zod";
import { elsewhere } from "./field";
import { rewrapped, unwrapped } from "./wire";

const twins = new WeakMap<z.ZodType, z.ZodType>();

/** The same schema as any service may accept it: without what is only our own service's choice. */
export function tolerant<T extends z.ZodType>(schema: T): T {
  let twin = twins.get(schema);
  if (!twin) {
    const accepted = acceptedFor(schema);
    twin = accepted ? tolerant(accepted) : withParts(schema);
    twins.set(schema, twin);
  }
  return twin as T;
}

/** A description makes another schema, whose parent is the one that was marked. */
function acceptedFor(schema: z.core.$ZodType): z.ZodType | undefined {
  const { parent } = schema._zod;
  return elsewhere.get(schema) ?? (parent && acceptedFor(parent));
}

function withParts(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape as Record<string, z.ZodType>);
    const shape = Object.fromEntries(fields.map(([key, field]) => [key, tolerant(field)]));
    return schema.clone({ ...schema.def, shape });
  }
  if (schema instanceof z.ZodArray)
    return schema.clone({ ...schema.def, element: tolerant(schema.element as z.ZodType) });
  if (schema instanceof z.ZodUnion)
    return schema.clone({ ...schema.def, options: schema.options.map((one) => tolerant(one as z.ZodType)) });
  const inner = unwrapped(schema);
  return inner ? rewrapped(schema, tolerant(inner)) : schema;
}
