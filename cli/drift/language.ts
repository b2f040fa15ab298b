import { type Shape, shapeOf } from "./shapes";
import {
  dotnetSyntax,
  goSyntax,
  javaSyntax,
  jsonSyntax,
  pythonSyntax,
  type ValueSyntax,
  written,
  yamlSyntax,
} from "./value-syntax";

/** What `recommender drift` knows of a language: where programs declare resources, and how it writes a declaration. */
export interface Language {
  /** The files of programs. */
  readonly files: string;
  /** Texts, which stay, and comments, which go: what is commented out declares nothing. */
  readonly textOrComment: RegExp;
  /** A declaration, with `type` and, unless it is computed, `name`. */
  readonly declaration: RegExp;
  /** The name of an argument. */
  argument(name: string): string;
  /** An argument with its value, which has the type that the schema of the package gives. */
  given(name: string, value: unknown, shape?: Shape): string;
  /** A whole declaration. */
  declare(type: string, name: string, args: Readonly<Record<string, unknown>>): string;
}

const slashes = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const hashes = /("""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|#[^\n]*/g;

const construction =
  /\bnew\s+(?:[\w$]+\s*\.\s*)*(?<type>[\w$]+)\s*(?:<[^>]*>\s*)?\(\s*(?:(?<quote>["'`])(?<name>.*?)\k<quote>\s*[,)])?/g;

const json = (value: unknown) => JSON.stringify(value);
const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const any: Shape = { kind: "any" };

/** All arguments of a declaration, each with its type. */
const all = (
  { given }: Pick<Language, "given">,
  type: string,
  args: Readonly<Record<string, unknown>>,
  between = ", ",
) =>
  Object.entries(args)
    .map(([key, value]) => given(key, value, shapeOf(type, key)))
    .join(between);

/** Writes an argument as a name, a sign and a value. */
const giving =
  (name: (argument: string) => string, sign: string, syntax: ValueSyntax): Language["given"] =>
  (argument, value, shape = any) =>
    `${name(argument)}${sign}${written(value, shape, syntax)}`;

const same = (name: string) => name;

const nodejs: Language = {
  files: "**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs}",
  textOrComment: slashes,
  declaration: construction,
  argument: same,
  given: giving(same, ": ", jsonSyntax),
  declare: (type, name, args) => `new recommender.${type}(${json(name)}, { ${all(nodejs, type, args)} })`,
};

const yaml: Language = {
  files: "**/*.{yaml,yml}",
  textOrComment: hashes,
  // The type stands somewhere in the block of the resource.
  declaration:
    /(?<=^([ \t]+))(?<quote>["']?)(?<name>[^\s"'#:{}][^"':\n]*)\k<quote>:[ \t]*\n(?:\1[ \t].*\n)*?\1[ \t]+type:[ \t]*["']?recommender:(?:index:)?(?<type>\w+)/gm,
  argument: same,
  given: giving(same, ": ", yamlSyntax),
  declare: (type, name, args) =>
    `to resources: ${yamlSyntax.text(name)}: { type: recommender:${type}, properties: { ${all(yaml, type, args)} } }`,
};

const python: Language = {
  files: "**/*.py",
  textOrComment: hashes,
  declaration: /\b(?:\w+\s*\.\s*)*(?<type>[A-Z]\w*)\s*\(\s*(?:(?<quote>["'])(?<name>.*?)\k<quote>\s*[,)])?/g,
  argument: snake,
  given: giving(snake, "=", pythonSyntax),
  declare: (type, name, args) => `recommender.${type}(${json(name)}, ${all(python, type, args)})`,
};

const go: Language = {
  files: "**/*.go",
  textOrComment: slashes,
  declaration: /\b\w+\.New(?<type>\w+)\(\s*\w+\s*,\s*(?:(?<quote>["`])(?<name>.*?)\k<quote>\s*[,)])?/g,
  argument: capital,
  given: giving(capital, ": ", goSyntax),
  declare: (type, name, args) =>
    `recommender.New${type}(ctx, ${json(name)}, &recommender.${type}Args{${all(go, type, args)}})`,
};

const java: Language = {
  files: "**/*.java",
  textOrComment: slashes,
  declaration: construction,
  argument: same,
  given: (name, value, shape = any) => `${name}(${written(value, shape, javaSyntax)})`,
  declare: (type, name, args) =>
    `new ${type}(${json(name)}, ${type}Args.builder().${all(java, type, args, ".")}.build())`,
};

const dotnet: Language = {
  files: "**/*.{cs,fs,vb}",
  textOrComment: slashes,
  declaration: construction,
  argument: capital,
  given: giving(capital, " = ", dotnetSyntax),
  declare: (type, name, args) =>
    `new Recommender.${type}(${json(name)}, new() { ${all(dotnet, type, args)} })`,
};

const languages: Readonly<Record<string, Language>> = { nodejs, yaml, python, go, java, dotnet };

/** The language of a program by its `runtime`. */
export function languageOf(runtime: string): Language {
  return languages[runtime] ?? nodejs;
}
