import type ts from "typescript";
import { z } from "zod";
import { tolerant } from "../../contract";
import type { Fields, Sources } from "./sources";

/** The type of a property in a package schema. */
export interface TypeSpec {
  readonly type?: string;
  readonly $ref?: string;
  readonly items?: TypeSpec;
  readonly additionalProperties?: TypeSpec;
  readonly oneOf?: readonly TypeSpec[];
}

/** The deprecation notice of an element of a package schema. */
export interface Deprecation {
  readonly deprecationMessage?: string;
}

/** A property in a package schema. */
export interface PropertySpec extends TypeSpec, Deprecation {
  readonly description?: string;
  readonly default?: string | number | boolean;
  readonly secret?: true;
  readonly willReplaceOnChanges?: true;
}

/** The properties of an object in a package schema. */
export interface ObjectSpec {
  readonly properties: Readonly<Record<string, PropertySpec>>;
  readonly required: readonly string[];
}

/** A resource in a package schema. */
export interface ResourceSpec extends ObjectSpec, Deprecation {
  readonly description: string;
  readonly inputProperties: Readonly<Record<string, PropertySpec>>;
  readonly requiredInputs: readonly string[];
  readonly isComponent?: true;
  readonly aliases?: readonly { readonly type: string }[];
}

/** A lookup in a package schema. */
export interface FunctionSpec extends Deprecation {
  readonly description: string;
  readonly inputs: ObjectSpec;
  readonly outputs: ObjectSpec;
}

/** The resources, lookups and types of a package schema. */
export interface PackageSchema {
  readonly types: Types["named"];
  readonly resources: Readonly<Record<string, ResourceSpec>>;
  readonly functions: Readonly<Record<string, FunctionSpec>>;
}

/** The parts of JSON Schema that are used here. */
interface Json {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly anyOf?: readonly Json[];
  readonly oneOf?: readonly Json[];
  readonly items?: Json;
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Json | boolean;
  readonly description?: string;
  readonly default?: unknown;
}

const singular = (name: string) => name.replace(/ies$/, "y").replace(/s$/, "");

/** The type of a value that can be anything. */
export const any: TypeSpec = { $ref: "pulumi.json#/Any" };

/** Returns the Pulumi token of an element of the package. */
export const token = (name: string): string => `recommender:index:${name}`;

/** Returns a name with a capital first letter. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Returns the deprecation notice if there is a message. */
export function deprecation(message: string | undefined): Deprecation {
  return message === undefined ? {} : { deprecationMessage: message };
}

/** Collects the named types that the schemas of the resources use. */
export class Types {
  readonly named: Record<string, object> = {};
  /** Fields without a description. */
  readonly undescribed: string[] = [];

  constructor(
    readonly sources: Sources,
    /** Fields that are secret in every response. */
    private readonly secrets: ReadonlySet<string>,
  ) {}

  /** Returns the properties of an object, with descriptions from TSDoc. */
  object(schema: z.ZodObject, name: string, ...documented: Fields[]): ObjectSpec {
    // Leave out our service's limits, because another service may have different ones.
    // `tolerant` also drops the descriptions of fields, so add them again.
    const { properties = {}, ...json } = schemaOf(tolerant(schema));
    const described = Object.entries(properties).map(([key, value]) => [
      key,
      { ...value, description: (schema.shape[key] as z.ZodType).description },
    ]);
    return this.#members({ ...json, properties: Object.fromEntries(described) }, name, documented, true);
  }

  /** Returns the properties of a request or response, whose descriptions are optional. */
  message(schema: z.ZodType, name: string, ...documented: Fields[]): ObjectSpec {
    return this.#members(schemaOf(schema), name, documented, false);
  }

  #members(json: Json, name: string, documented: readonly Fields[], strict: boolean): ObjectSpec {
    const properties: Record<string, PropertySpec> = {};
    for (const [key, value] of Object.entries(json.properties ?? {})) {
      const fields = documented.flatMap((one) => one.get(key) ?? []);
      const description = fields.map(({ text }) => text).find(Boolean) ?? value.description;
      if (!description && strict) this.undescribed.push(`${name}.${key}`);
      const named = fields[0]?.typeName ?? name + capital(key);
      const spec = this.#typeOf(value, named, fields[0]?.type, strict);
      const secret = !strict && this.secrets.has(key) && ({ secret: true } as const);
      properties[key] = {
        ...spec,
        ...(description && { description }),
        ...deprecation(fields[0]?.deprecated),
        ...defaultOf(value),
        ...secret,
      };
    }
    return { properties, required: json.required ?? [] };
  }

  #typeOf(json: Json, name: string, type: ts.Type | undefined, strict: boolean): TypeSpec {
    const ways = (json.anyOf ?? json.oneOf)?.filter((way) => way.type !== "null");
    if (ways) {
      const [only] = ways;
      if (ways.length === 1 && only) return this.#typeOf(only, name, type, strict);
      // The Python SDK cannot pass a list if the type also allows something else.
      if (ways.some((way) => way.type === "array")) return any;
      const formOf = (way: Json) => type && this.sources.formOf(type, way.required ?? []);
      return { oneOf: ways.map((way) => this.#typeOf(way, name, formOf(way) ?? type, strict)) };
    }
    if (Array.isArray(json.type)) {
      const anyOf = json.type.map((one: string) => ({ ...json, type: one }));
      return this.#typeOf({ anyOf }, name, type, strict);
    }
    const entry = type && this.sources.entryOf(type);
    if (json.enum) return this.#name(this.#nameOf(type) ?? name, enumOf(json.enum), type);
    if (json.const !== undefined) return { type: typeof json.const };
    if (json.type === "array")
      return { type: "array", items: this.#typeOf(json.items ?? {}, singular(name), entry, strict) };
    if (json.type === "object" && json.properties) {
      const known = this.#nameOf(type) ?? name;
      const fields = type ? [this.sources.fieldsOf(type)] : [];
      return this.#name(known, { type: "object", ...this.#members(json, known, fields, strict) }, type);
    }
    if (json.type === "object") {
      const value = typeof json.additionalProperties === "object" ? json.additionalProperties : {};
      return { type: "object", additionalProperties: this.#typeOf(value, name, entry, strict) };
    }
    return typeof json.type === "string" ? { type: json.type } : any;
  }

  #nameOf(type: ts.Type | undefined): string | undefined {
    return type && this.sources.nameOf(type);
  }

  #name(name: string, definition: object, type: ts.Type | undefined): TypeSpec {
    const description = type && this.sources.textOf(type);
    const whole = { ...definition, ...(description && { description }) };
    const known = this.named[token(name)];
    if (known && JSON.stringify(known) !== JSON.stringify(whole))
      throw new Error(`Two types have the name ${name}:\n${JSON.stringify(known)}\n${JSON.stringify(whole)}`);
    this.named[token(name)] = whole;
    return { $ref: `#/types/${token(name)}` };
  }
}

function enumOf(values: readonly string[]): object {
  const words = (value: string) => value.toLowerCase().split("_").map(capital).join("");
  return { type: "string", enum: values.map((value) => ({ name: words(value), value })) };
}

function schemaOf(schema: z.ZodType): Json {
  return z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      const { override, description } = (z.globalRegistry.get(zodSchema) ?? {}) as z.core.GlobalMeta;
      if (!override) return;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as "type"];
      const shown = override instanceof z.ZodType ? schemaOf(tolerant(override)) : override;
      Object.assign(jsonSchema, shown, description && { description });
    },
  }) as Json;
}

/** Returns the default of a property if all languages can express it, because SDKs fill in defaults. */
function defaultOf({ default: value }: Json): { default?: string | number | boolean } {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? { default: value }
    : {};
}
