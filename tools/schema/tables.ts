import type { Deprecation, ObjectSpec, PackageSchema, PropertySpec } from "./types";

type Types = PackageSchema["types"];

/** A text as code in Markdown. */
export const code = (text: string): string => `\`${text}\``;

/** Names as code in Markdown. */
export const codes = (names: readonly string[]): string => names.map(code).join(", ");

/** A table of Markdown, with an empty line after it; nothing where there are no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${head.map(() => "---|").join("")}`, ...rows.map(line), ""];
}

/** A block of code in Markdown, with an empty line after it. */
export function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trim()}\n\`\`\`\n`;
}

/** What a description says before its examples, with an empty line after it. */
export function lead({ description, ...spec }: { readonly description: string } & Deprecation): string {
  const [text = ""] = description.split("\n\n{{% examples %}}");
  return `${[text, ...deprecated(spec)].join("\n\n")}\n`;
}

/** What a value means, and which ones there are. */
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

/** A property with what it holds, each by its path. */
export function withMembers(key: string, spec: PropertySpec, types: Types): [string, PropertySpec][] {
  const { $ref = "" } = spec.items ?? spec;
  const path = spec.items ? `${key}[]` : key;
  const { properties = {} } = (types[nameIn($ref)] ?? {}) as Partial<ObjectSpec>;
  const members = Object.entries(properties).flatMap(([name, member]) =>
    withMembers(`${path}.${name}`, member, types),
  );
  return [[key, spec], ...members];
}

/** The value that stands for one that is left out. */
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
