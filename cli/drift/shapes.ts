import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageDirectory } from "../../provider/plugin/package-directory";

/** Type of an argument, with the details that affect how its values are written in a language. */
export type Shape =
  | { readonly kind: "any" }
  | { readonly kind: "string" | "integer" | "number" | "boolean" }
  | { readonly kind: "enum"; readonly name: string; readonly members: Readonly<Record<string, string>> }
  | { readonly kind: "list" | "map"; readonly of: Shape }
  | { readonly kind: "object"; readonly name: string; readonly fields: Readonly<Record<string, Shape>> };

/** A type in the Pulumi package schema. */
interface TypeSpec {
  readonly type?: string;
  readonly items?: TypeSpec;
  readonly additionalProperties?: TypeSpec;
  readonly oneOf?: readonly TypeSpec[];
  readonly $ref?: string;
}

interface Schema {
  readonly resources: Readonly<
    Record<string, { readonly inputProperties: Readonly<Record<string, TypeSpec>> }>
  >;
  readonly types: Readonly<
    Record<
      string,
      {
        readonly enum?: readonly { readonly name: string; readonly value: string }[];
        readonly properties?: Readonly<Record<string, TypeSpec>>;
      }
    >
  >;
}

/** A value of unknown type. */
export const anyShape: Shape = { kind: "any" };
const scalars: readonly string[] = ["string", "integer", "number", "boolean"];
const prefix = "recommender:index:";
let cached: Schema | undefined;

function schema(): Schema {
  cached ??= JSON.parse(readFileSync(join(packageDirectory(), "schema.json"), "utf8")) as Schema;
  return cached;
}

/** Returns the type of an argument in the package schema, or `any` if the schema does not contain it. */
export function shapeOf(type: string, argument: string): Shape {
  const spec = schema().resources[prefix + type]?.inputProperties[argument];
  return spec ? shapeIn(spec) : anyShape;
}

function shapeIn({ type = "", items, additionalProperties, oneOf, $ref }: TypeSpec): Shape {
  if ($ref?.startsWith("#/types/")) return namedShape($ref.slice("#/types/".length));
  // If several types are allowed, only a named type affects how values are written.
  const named = oneOf?.find((one) => one.$ref);
  if (named) return shapeIn(named);
  if (items) return { kind: "list", of: shapeIn(items) };
  if (additionalProperties) return { kind: "map", of: shapeIn(additionalProperties) };
  return scalars.includes(type) ? { kind: type as "string" } : anyShape;
}

function namedShape(token: string): Shape {
  const name = token.slice(prefix.length);
  const { enum: members, properties = {} } = schema().types[token] ?? {};
  if (members)
    return { kind: "enum", name, members: Object.fromEntries(members.map((one) => [one.value, one.name])) };
  const fields = Object.entries(properties).map(([field, spec]) => [field, shapeIn(spec)]);
  return { kind: "object", name, fields: Object.fromEntries(fields) };
}
