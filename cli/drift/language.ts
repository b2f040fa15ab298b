import { type Shape, shapeOf } from "./shapes";
import {
  dotnetSyntax,
  formatValue,
  goSyntax,
  javaSyntax,
  jsonSyntax,
  pythonSyntax,
  type ValueSyntax,
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
  argumentName(name: string): string;
  /** An argument with its value, which has the type that the schema of the package gives. */
  formatArgument(name: string, value: unknown, shape?: Shape): string;
  /** A whole declaration. */
  formatDeclaration(type: string, name: string, args: Readonly<Record<string, unknown>>): string;
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
const formatArguments = (
  { formatArgument }: Pick<Language, "formatArgument">,
  type: string,
  args: Readonly<Record<string, unknown>>,
  between = ", ",
) =>
  Object.entries(args)
    .map(([key, value]) => formatArgument(key, value, shapeOf(type, key)))
    .join(between);

/** Writes an argument as a name, a sign and a value. */
const argumentFormatter =
  (name: (argument: string) => string, sign: string, syntax: ValueSyntax): Language["formatArgument"] =>
  (argument, value, shape = any) =>
    `${name(argument)}${sign}${formatValue(value, shape, syntax)}`;

const unchangedName = (name: string) => name;

const nodejs: Language = {
  files: "**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs}",
  textOrComment: slashes,
  declaration: construction,
  argumentName: unchangedName,
  formatArgument: argumentFormatter(unchangedName, ": ", jsonSyntax),
  formatDeclaration: (type, name, args) =>
    `new recommender.${type}(${json(name)}, { ${formatArguments(nodejs, type, args)} })`,
};

const yaml: Language = {
  files: "**/*.{yaml,yml}",
  textOrComment: hashes,
  // The type stands somewhere in the block of the resource.
  declaration:
    /(?<=^([ \t]+))(?<quote>["']?)(?<name>[^\s"'#:{}][^"':\n]*)\k<quote>:[ \t]*\n(?:\1[ \t].*\n)*?\1[ \t]+type:[ \t]*["']?recommender:(?:index:)?(?<type>\w+)/gm,
  argumentName: unchangedName,
  formatArgument: argumentFormatter(unchangedName, ": ", yamlSyntax),
  formatDeclaration: (type, name, args) =>
    `to resources: ${yamlSyntax.text(name)}: { type: recommender:${type}, properties: { ${formatArguments(yaml, type, args)} } }`,
};

const python: Language = {
  files: "**/*.py",
  textOrComment: hashes,
  declaration: /\b(?:\w+\s*\.\s*)*(?<type>[A-Z]\w*)\s*\(\s*(?:(?<quote>["'])(?<name>.*?)\k<quote>\s*[,)])?/g,
  argumentName: snake,
  formatArgument: argumentFormatter(snake, "=", pythonSyntax),
  formatDeclaration: (type, name, args) =>
    `recommender.${type}(${json(name)}, ${formatArguments(python, type, args)})`,
};

const go: Language = {
  files: "**/*.go",
  textOrComment: slashes,
  declaration: /\b\w+\.New(?<type>\w+)\(\s*\w+\s*,\s*(?:(?<quote>["`])(?<name>.*?)\k<quote>\s*[,)])?/g,
  argumentName: capital,
  formatArgument: argumentFormatter(capital, ": ", goSyntax),
  formatDeclaration: (type, name, args) =>
    `recommender.New${type}(ctx, ${json(name)}, &recommender.${type}Args{${formatArguments(go, type, args)}})`,
};

const java: Language = {
  files: "**/*.java",
  textOrComment: slashes,
  declaration: construction,
  argumentName: unchangedName,
  formatArgument: (name, value, shape = any) => `${name}(${formatValue(value, shape, javaSyntax)})`,
  formatDeclaration: (type, name, args) =>
    `new ${type}(${json(name)}, ${type}Args.builder().${formatArguments(java, type, args, ".")}.build())`,
};

const dotnet: Language = {
  files: "**/*.{cs,fs,vb}",
  textOrComment: slashes,
  declaration: construction,
  argumentName: capital,
  formatArgument: argumentFormatter(capital, " = ", dotnetSyntax),
  formatDeclaration: (type, name, args) =>
    `new Recommender.${type}(${json(name)}, new() { ${formatArguments(dotnet, type, args)} })`,
};

const languages: Readonly<Record<string, Language>> = { nodejs, yaml, python, go, java, dotnet };

/** The language of a program by its `runtime`. */
export function languageOf(runtime: string): Language {
  return languages[runtime] ?? nodejs;
}
