import type { Shape } from "./shapes";

/** How a language writes values of the arguments of resources. */
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

const json = (value: unknown) => JSON.stringify(value);
const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const decimal = (value: number) => (Number.isInteger(value) ? value.toFixed(1) : String(value));
const braces = (parts: readonly string[]) => (parts.length > 0 ? `{ ${parts.join(", ")} }` : "{}");

/** JSON itself: TypeScript, and YAML after its texts are escaped. */
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

/** The engine would read `${` in a text of YAML as a reference. */
export const yamlSyntax: ValueSyntax = {
  ...jsonSyntax,
  text: (value) => json(value).replaceAll("${", () => "$${"),
};

/** Dictionaries of Python have the names of arguments where they stand for a type of the package. */
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

/** The type of a list or map of Go by what it holds, such as `pulumi.StringArray`. */
const goContainer = (of: Shape, kind: "Array" | "Map") =>
  (of.kind === "enum" || of.kind === "object" ? `recommender.${of.name}` : (goTypes[of.kind] ?? "pulumi.")) +
  kind;

/** Every value of Go is wrapped as an input. */
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

/** Java builds objects, and has collections for lists and maps. */
export const javaSyntax: ValueSyntax = {
  ...jsonSyntax,
  decimal,
  member: (name, member) => `${name}.${member}`,
  list: (elements) => `List.of(${elements.join(", ")})`,
  // `Map.of` has at most ten entries.
  map: (entries) =>
    `Map.ofEntries(${entries.map(([key, value]) => `Map.entry(${json(key)}, ${value})`).join(", ")})`,
  object: (fields, name) =>
    `${name}Args.builder()${fields.map(([key, value]) => `.${key}(${value})`).join("")}.build()`,
};

/** The element type of a list of C#, where the compiler cannot find it. */
const dotnetElement = ({ kind }: Shape) =>
  kind === "any" || kind === "list" || kind === "map" ? " object" : "";

/** C# has initializers for all of them. */
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

/** Writes a value as an expression of a language. What the service left out has no expression and is left out. */
export function formatValue(value: unknown, shape: Shape, syntax: ValueSyntax): string {
  const any: Shape = { kind: "any" };
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
    const of = shape.kind === "list" ? shape.of : any;
    return syntax.list(
      value.map((element) => formatValue(element, of, syntax)),
      of,
    );
  }
  const entries = Object.entries(value).filter(([, one]) => one !== undefined && one !== null);
  if (shape.kind === "object")
    return syntax.object(
      entries.map(([key, one]) => [key, formatValue(one, shape.fields[key] ?? any, syntax)] as const),
      shape.name,
    );
  const of = shape.kind === "map" ? shape.of : any;
  return syntax.map(
    entries.map(([key, one]) => [key, formatValue(one, of, syntax)] as const),
    of,
  );
}
