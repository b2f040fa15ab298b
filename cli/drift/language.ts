import { anyShape, type Shape, shapeOf } from "./shapes";
import {
  capital,
  dotnetSyntax,
  formatValue,
  goSyntax,
  javaSyntax,
  json,
  jsonSyntax,
  pythonSyntax,
  snake,
  type ValueSyntax,
  yamlSyntax,
} from "./value-syntax";

/** Patterns and formatters for declarations in one language. */
export interface Language {
  /** Glob pattern of source files. */
  readonly files: string;
  /** Matches string literals (captured) and comments. Comments are removed before the search for declarations. */
  readonly textOrComment: RegExp;
  /** Matches a declaration, with the groups `type` and, unless the name is computed, `name`. */
  readonly declaration: RegExp;
  /** Converts the name of an argument to the language's convention. */
  argumentName(name: string): string;
  /** Formats an argument with its value. `shape` is its type in the package schema. */
  formatArgument(name: string, value: unknown, shape?: Shape): string;
  /** Formats a declaration. */
  formatDeclaration(type: string, name: string, args: Readonly<Record<string, unknown>>): string;
}

const slashes = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const hashes = /("""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|#[^\n]*/g;

const construction =
  /\bnew\s+(?:[\w$]+\s*\.\s*)*(?<type>[\w$]+)\s*(?:<[^>]*>\s*)?\(\s*(?:(?<quote>["'`])(?<name>.*?)\k<quote>\s*[,)])?/g;

/** Formats all arguments of a declaration. */
const formatArguments = (
  { formatArgument }: Pick<Language, "formatArgument">,
  type: string,
  args: Readonly<Record<string, unknown>>,
  between = ", ",
) =>
  Object.entries(args)
    .map(([key, value]) => formatArgument(key, value, shapeOf(type, key)))
    .join(between);

/** Returns a formatter for languages that write an argument as a name, a sign and a value, as in `name: value`. */
const argumentFormatter =
  (name: (argument: string) => string, sign: string, syntax: ValueSyntax): Language["formatArgument"] =>
  (argument, value, shape = anyShape) =>
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
  // `type` may be anywhere in the block of the resource.
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
  formatArgument: (name, value, shape = anyShape) => `${name}(${formatValue(value, shape, javaSyntax)})`,
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

/** Returns the language of a `runtime` in Pulumi.yaml. Unknown runtimes are treated as Node.js. */
export function languageOf(runtime: string): Language {
  return languages[runtime] ?? nodejs;
}
