/** What `recommender drift` knows of a language: where programs declare resources, and how it writes a declaration. */
export interface Language {
  /** The files of programs. */
  readonly files: string;
  /** Texts, which stay, and comments, which go: what is commented out declares nothing. */
  readonly textOrComment: RegExp;
  /** A declaration, with `type` and, unless it is computed, `name`. */
  readonly declaration: RegExp;
  /** An argument by its path. */
  argument(path: string): string;
  /** An argument with its value. */
  given(path: string, value: unknown): string;
  /** A whole declaration. */
  declare(type: string, name: string, args: Readonly<Record<string, unknown>>): string;
}

const slashes = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const hashes = /("""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|#[^\n]*/g;

const construction =
  /\bnew\s+(?:[\w$]+\s*\.\s*)*(?<type>[\w$]+)\s*(?:<[^>]*>\s*)?\(\s*(?:(?<quote>["'`])(?<name>.*?)\k<quote>\s*[,)])?/g;

const json = (value: unknown) => JSON.stringify(value);
const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
const ofTop = (path: string, to: (key: string) => string) => path.replace(/^\w+/, to);
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const all = (
  args: Readonly<Record<string, unknown>>,
  write: (key: string, value: unknown) => string,
  between = ", ",
) =>
  Object.entries(args)
    .map(([key, value]) => write(key, value))
    .join(between);

const colon = (path: string, value: unknown) => `${path}: ${json(value)}`;

const nodejs: Language = {
  files: "**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs}",
  textOrComment: slashes,
  declaration: construction,
  argument: (path) => path,
  given: colon,
  declare: (type, name, args) => `new recommender.${type}(${json(name)}, { ${all(args, colon)} })`,
};

const yaml: Language = {
  files: "**/*.{yaml,yml}",
  textOrComment: hashes,
  // The type stands somewhere in the block of the resource.
  declaration:
    /(?<=^([ \t]+))(?<quote>["']?)(?<name>[^\s"'#:{}][^"':\n]*)\k<quote>:[ \t]*\n(?:\1[ \t].*\n)*?\1[ \t]+type:[ \t]*["']?recommender:(?:index:)?(?<type>\w+)/gm,
  argument: (path) => path,
  given: (path, value) => `${path}: ${yamlText(value)}`,
  declare: (type, name, args) =>
    `to resources: ${yamlText(name)}: { type: recommender:${type}, properties: { ${all(args, yaml.given)} } }`,
};

const python: Language = {
  files: "**/*.py",
  textOrComment: hashes,
  declaration: /\b(?:\w+\s*\.\s*)*(?<type>[A-Z]\w*)\s*\(\s*(?:(?<quote>["'])(?<name>.*?)\k<quote>\s*[,)])?/g,
  argument: (path) => ofTop(path, snake),
  given: (path, value) => `${ofTop(path, snake)}=${pythonValue(value)}`,
  declare: (type, name, args) => `recommender.${type}(${json(name)}, ${all(args, python.given)})`,
};

const go: Language = {
  files: "**/*.go",
  textOrComment: slashes,
  declaration: /\b\w+\.New(?<type>\w+)\(\s*\w+\s*,\s*(?:(?<quote>["`])(?<name>.*?)\k<quote>\s*[,)])?/g,
  argument: (path) => ofTop(path, capital),
  given: (path, value) =>
    isScalar(value)
      ? `${ofTop(path, capital)}: ${goValue(value)}`
      : `${ofTop(path, capital)} as ${json(value)}`,
  declare: (type, name, args) =>
    `recommender.New${type}(ctx, ${json(name)}, &recommender.${type}Args{${all(args, go.given)}})`,
};

const java: Language = {
  files: "**/*.java",
  textOrComment: slashes,
  declaration: construction,
  argument: (path) => path,
  given: (path, value) => (isScalar(value) ? `${path}(${json(value)})` : `${path} as ${json(value)}`),
  declare: (type, name, args) =>
    `new ${type}(${json(name)}, ${type}Args.builder().${all(args, java.given, ".")}.build())`,
};

const dotnet: Language = {
  files: "**/*.{cs,fs,vb}",
  textOrComment: slashes,
  declaration: construction,
  argument: (path) => ofTop(path, capital),
  given: (path, value) => `${ofTop(path, capital)} ${isScalar(value) ? "=" : "as"} ${json(value)}`,
  declare: (type, name, args) =>
    `new Recommender.${type}(${json(name)}, new() { ${all(args, dotnet.given)} })`,
};

const languages: Readonly<Record<string, Language>> = { nodejs, yaml, python, go, java, dotnet };

/** The language of a program by its `runtime`. */
export function languageOf(runtime: string): Language {
  return languages[runtime] ?? nodejs;
}

/** Whether a value is written the same everywhere; typed languages need types for lists and maps, so these are told as JSON. */
function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

/** JSON is YAML, but the engine would read `${` in a text as a reference. */
function yamlText(value: unknown): string {
  return json(value).replaceAll("${", () => "$${");
}

function pythonValue(value: unknown): string {
  const words: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };
  return json(value).replace(
    /("(?:\\.|[^"\\])*")|\b(?:true|false|null)\b/g,
    (word, text) => text ?? words[word],
  );
}

function goValue(value: unknown): string {
  if (typeof value === "string") return `pulumi.String(${json(value)})`;
  if (typeof value === "number") return `pulumi.${Number.isInteger(value) ? "Int" : "Float64"}(${value})`;
  return typeof value === "boolean" ? `pulumi.Bool(${value})` : json(value);
}
