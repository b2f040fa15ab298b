import { anyShape, type Shape } from "./shapes";

/** Formatters for argument values in one language. */
export interface ValueSyntax {
  text(value: string): string;
  integer(value: number): string;
  decimal(value: number): string;
  boolean(value: boolean): string;
  readonly nothing: string;
  member(name: string, member: string, value: string): string;
  list(elements: readonly string[], of: Shape): string;
  map(entries: readonly (readonly [string, string])[], of: Shape): string;
  object(fields: readonly (readonly [string, string])[], name: string): string;
}

/** Formats a value as JSON. */
export const json = (value: unknown) => JSON.stringify(value);
/** Converts the first letter to upper case. */
export const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
/** Converts camelCase to snake_case. */
export const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const decimal = (value: number) => (Number.isInteger(value) ? value.toFixed(1) : String(value));
const braces = (parts: readonly string[]) => (parts.length > 0 ? `{ ${parts.join(", ")} }` : "{}");

/** Formats values in TypeScript. Most other languages build on this syntax. */
export const jsonSyntax: ValueSyntax = {
  text: json,
  integer: String,
  decimal: String,
  boolean: String,
  nothing: "null",
  member: (_name, _member, value) => json(value),
  list: (elements) => `[${elements.join(", ")}]`,
  map: (entries) => braces(entries.map(([key, value]) => `${json(key)}: ${value}`)),
  object: (fields) => braces(fields.map(([key, value]) => `${key}: ${value}`)),
};

/** Formats values in YAML. `${` is escaped, because the engine would read it as a reference. */
export const yamlSyntax: ValueSyntax = {
  ...jsonSyntax,
  text: (value) => json(value).replaceAll("${", () => "$${"),
};

/** Formats values in Python. Dictionaries for object types have snake_case keys. */
export const pythonSyntax: ValueSyntax = {
  ...jsonSyntax,
  boolean: (value) => (value ? "True" : "False"),
  nothing: "None",
  map: (entries) => `{${entries.map(([key, value]) => `${json(key)}: ${value}`).join(", ")}}`,
  object: (fields) => `{${fields.map(([key, value]) => `${json(snake(key))}: ${value}`).join(", ")}}`,
};

const goTypes: Readonly<Record<string, string>> = {
  string: "pulumi.String",
  integer: "pulumi.Int",
  number: "pulumi.Float64",
  boolean: "pulumi.Bool",
  any: "pulumi.",
};

/** Returns the type of a Go list or map, such as `pulumi.StringArray`. */
const goContainer = (of: Shape, kind: "Array" | "Map") =>
  (of.kind === "enum" || of.kind === "object" ? `recommender.${of.name}` : (goTypes[of.kind] ?? "pulumi.")) +
  kind;

/** Formats values in Go, where each value is wrapped as a Pulumi input. */
export const goSyntax: ValueSyntax = {
  text: (value) => `pulumi.String(${json(value)})`,
  integer: (value) => `pulumi.Int(${value})`,
  decimal: (value) => `pulumi.Float64(${value})`,
  boolean: (value) => `pulumi.Bool(${value})`,
  nothing: "nil",
  member: (name, _member, value) => `recommender.${name}(${json(value)})`,
  list: (elements, of) => `${goContainer(of, "Array")}{${elements.join(", ")}}`,
  map: (entries, of) =>
    `${goContainer(of, "Map")}{${entries.map(([key, value]) => `${json(key)}: ${value}`).join(", ")}}`,
  object: (fields, name) =>
    `&recommender.${name}Args{${fields.map(([key, value]) => `${capital(key)}: ${value}`).join(", ")}}`,
};

/** Formats values in Java, with builders for objects. */
export const javaSyntax: ValueSyntax = {
  ...jsonSyntax,
  decimal,
  member: (name, member) => `${name}.${member}`,
  list: (elements) => `List.of(${elements.join(", ")})`,
  // `Map.of` accepts at most ten entries.
  map: (entries) =>
    `Map.ofEntries(${entries.map(([key, value]) => `Map.entry(${json(key)}, ${value})`).join(", ")})`,
  object: (fields, name) =>
    `${name}Args.builder()${fields.map(([key, value]) => `.${key}(${value})`).join("")}.build()`,
};

/** Returns the element type of a C# array, or empty text if the compiler can infer it. */
const dotnetElement = ({ kind }: Shape) =>
  kind === "any" || kind === "list" || kind === "map" ? " object" : "";

/** Formats values in C#, with initializers for objects. */
export const dotnetSyntax: ValueSyntax = {
  ...jsonSyntax,
  decimal,
  member: (name, member) => `Recommender.${name}.${member}`,
  list: (elements, of) => `new${dotnetElement(of)}[] ${braces(elements)}`,
  map: (entries, of) => {
    const type = of.kind === "any" ? "object" : of.kind === "enum" ? `Recommender.${of.name}` : of.kind;
    const pairs = entries.map(([key, value]) => `[${json(key)}] = ${value}`);
    return `new Dictionary<string, ${type}> ${braces(pairs)}`;
  },
  object: (fields, name) =>
    `new Recommender.Inputs.${name}Args ${braces(fields.map(([key, value]) => `${capital(key)} = ${value}`))}`,
};

/** Formats a value as an expression in a language. Null and undefined fields are left out. */
export function formatValue(value: unknown, shape: Shape, syntax: ValueSyntax): string {
  if (typeof value === "string") {
    const member = shape.kind === "enum" ? shape.members[value] : undefined;
    if (shape.kind === "enum" && member !== undefined) return syntax.member(shape.name, member, value);
    return syntax.text(value);
  }
  if (typeof value === "number")
    return Number.isInteger(value) && shape.kind !== "number" ? syntax.integer(value) : syntax.decimal(value);
  if (typeof value === "boolean") return syntax.boolean(value);
  if (value === null || value === undefined) return syntax.nothing;
  if (Array.isArray(value)) {
    const element = shape.kind === "list" ? shape.of : anyShape;
    return syntax.list(
      value.map((one) => formatValue(one, element, syntax)),
      element,
    );
  }
  const entries = Object.entries(value).filter(([, one]) => one !== undefined && one !== null);
  if (shape.kind === "object")
    return syntax.object(
      entries.map(([key, one]) => [key, formatValue(one, shape.fields[key] ?? anyShape, syntax)] as const),
      shape.name,
    );
  const of = shape.kind === "map" ? shape.of : anyShape;
  return syntax.map(
    entries.map(([key, one]) => [key, formatValue(one, of, syntax)] as const),
    of,
  );
}
