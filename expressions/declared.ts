import type { Known } from "./compile";
import { ANY, BOOL, type Kinds, LIST, NULL, NUMBER, TEXT } from "./kinds";

/** How each attribute is handled, as the schema of a dataset declares it. */
export type Handling = Readonly<Record<string, string>>;

/** Returns the kinds of values of an attribute: those of its records, or else those that its schema allows. */
export function declaredKinds(schema: Handling | null, name: string, seen?: Kinds): Kinds | undefined {
  const handling = schema && Object.hasOwn(schema, name) ? schema[name] : undefined;
  if (handling === "NUMERICAL") return NUMBER;
  const isSeen = seen !== undefined && (seen & ~NULL) !== 0;
  if (isSeen) return seen;
  return handling === undefined ? seen && ANY : TEXT | NUMBER | BOOL | LIST;
}

/** Whether a value is an attribute schema. */
export function isHandling(value: unknown): value is Handling {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((handling) => handling === "NUMERICAL" || handling === "CATEGORICAL");
}

/** Returns the attributes that expressions can read. A dataset without a schema can have any attributes. */
export function knownBySchemas(schemas: Readonly<Record<"item" | "user", Handling | null>>): Known {
  return {
    kindsOf: (of, name) => (schemas[of] ? declaredKinds(schemas[of], name) : ANY),
    names: (of) => Object.keys(schemas[of] ?? {}),
  };
}
