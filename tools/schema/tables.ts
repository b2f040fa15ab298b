import type { Deprecation, ObjectSpec, PackageSchema, PropertySpec } from "./types";

type Types = PackageSchema["types"];

/** Formats a string as inline code. */
export const code = (text: string): string => `\`${text}\``;

/** Formats names as inline code. */
export const codes = (names: readonly string[]): string => names.map(code).join(", ");

/** Returns a Markdown table and an empty line, or an empty string if there are no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${head.map(() => "---|").join("")}`, ...rows.map(line), ""];
}

/** Returns a Markdown code block and an empty line. */
export function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trim()}\n\`\`\`\n`;
}

/** Returns the part of a description before its examples, and an empty line. */
export function lead({ description, ...spec }: { readonly description: string } & Deprecation): string {
  const [text = ""] = description.split("\n\n{{% examples %}}");
  return `${[text, ...deprecated(spec)].join("\n\n")}\n`;
}

/** Returns the description of a property, with its allowed values. */
export function meaning({ description = "", secret, ...spec }: PropertySpec, types: Types): string {
  const values = enumOf(spec.additionalProperties ?? spec, types);
  const words = [
    description,
    ...(values.length > 1 ? [`One of ${codes(values)}.`] : []),
    ...(secret ? ["Secret."] : []),
    ...deprecated(spec),
  ];
  return words.filter(Boolean).join(" ").replaceAll("\n", " ").replaceAll("|", "\\|");
}

/** Returns a property and its nested properties, by path. */
export function withMembers(key: string, spec: PropertySpec, types: Types): [string, PropertySpec][] {
  const { $ref = "" } = spec.items ?? spec;
  const path = spec.items ? `${key}[]` : key;
  const { properties = {} } = (types[nameIn($ref)] ?? {}) as Partial<ObjectSpec>;
  const members = Object.entries(properties).flatMap(([name, member]) =>
    withMembers(`${path}.${name}`, member, types),
  );
  return [[key, spec], ...members];
}

/** Returns the default value of a property. */
export function defaultOf(key: string, spec: PropertySpec, required: readonly string[]): string {
  if (required.includes(key)) return "required";
  return spec.default === undefined ? "" : code(String(spec.default));
}

function deprecated({ deprecationMessage }: Deprecation): string[] {
  return deprecationMessage === undefined ? [] : [`**Deprecated:** ${deprecationMessage}`];
}

function enumOf({ $ref = "" }: PropertySpec, types: Types): string[] {
  const { enum: values = [] } = (types[nameIn($ref)] ?? {}) as { enum?: { value: string }[] };
  return values.map(({ value }) => value);
}

function nameIn($ref: string): string {
  return $ref.replace("#/types/", "");
}
