import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "../../provider/plugin/package-folder";

/** The type of an argument, as far as a language writes values of it differently. */
export type Shape =
  | { readonly kind: "any" }
  | { readonly kind: "string" | "integer" | "number" | "boolean" }
  | { readonly kind: "enum"; readonly name: string; readonly members: Readonly<Record<string, string>> }
  | { readonly kind: "list" | "map"; readonly of: Shape }
  | { readonly kind: "object"; readonly name: string; readonly fields: Readonly<Record<string, Shape>> };

/** The part of a package schema that describes a type. */
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

const any: Shape = { kind: "any" };
const scalars: readonly string[] = ["string", "integer", "number", "boolean"];
const prefix = "recommender:index:";
let read: Schema | undefined;

function schema(): Schema {
  read ??= JSON.parse(readFileSync(join(packageFolder(), "schema.json"), "utf8")) as Schema;
  return read;
}

/** The type of an argument of a resource, from the schema of the package; anything if the schema does not have it. */
export function shapeOf(type: string, argument: string): Shape {
  const spec = schema().resources[prefix + type]?.inputProperties[argument];
  return spec ? shapeIn(spec) : any;
}

function shapeIn({ type = "", items, additionalProperties, oneOf, $ref }: TypeSpec): Shape {
  if ($ref?.startsWith("#/types/")) return namedShape($ref.slice("#/types/".length));
  // Of several types, only one that has a name matters: the others are scalars, which any place takes.
  const named = oneOf?.find((one) => one.$ref);
  if (named) return shapeIn(named);
  if (items) return { kind: "list", of: shapeIn(items) };
  if (additionalProperties) return { kind: "map", of: shapeIn(additionalProperties) };
  return scalars.includes(type) ? { kind: type as "string" } : any;
}

function namedShape(token: string): Shape {
  const name = token.slice(prefix.length);
  const { enum: members, properties = {} } = schema().types[token] ?? {};
  if (members)
    return {
      ...{ kind: "enum", name },
      members: Object.fromEntries(members.map((member) => [member.value, member.name])),
    };
  const fields = Object.entries(properties).map(([field, spec]) => [field, shapeIn(spec)]);
  return { kind: "object", name, fields: Object.fromEntries(fields) };
}
