import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { globSync } from "tinyglobby";
import { components } from "../../provider/plugin/components";
import { type PackageSchema, token } from "./types";

const root = join(__dirname, "../..");
const directory = join(root, "provider/program/examples");
const store = join(directory, "converted.json");

/** One example in all languages. */
export interface Example {
  readonly yaml: string;
  readonly typescript: string;
  readonly python: string;
  readonly go: string;
}

/** The converted examples, by the name of their resource or lookup. */
export type Examples = Readonly<Record<string, Example>>;

/** Reads the source of the examples: one YAML program for each resource and lookup. */
export function writtenExamples(): Record<string, string> {
  const files = globSync("**/*.yaml", { cwd: directory, absolute: true }).sort();
  return Object.fromEntries(files.map((file) => [basename(file, ".yaml"), readFileSync(file, "utf8")]));
}

/** Reads the examples as they were last converted. */
export function convertedExamples(): Examples {
  return JSON.parse(readFileSync(store, "utf8"));
}

/** Converts the examples to other languages with the pinned generator. */
export function convertExamples(schema: PackageSchema): Examples {
  const written = writtenExamples();
  const ran = spawnSync("go", ["run", "-mod=readonly", ".", "examples", join(root, "schema.json")], {
    cwd: join(__dirname, "../sdk"),
    env: { ...process.env, CGO_ENABLED: "0", GOWORK: "off" },
    input: JSON.stringify(written),
    encoding: "utf8",
  });
  if (ran.status !== 0) throw new Error(`Cannot convert the examples: ${ran.error ?? ran.stderr}`);
  const made = JSON.parse(ran.stdout) as Record<string, Omit<Example, "yaml">>;
  return Object.fromEntries(
    Object.entries(written).map(([name, yaml]) => {
      const { typescript, python, go } = made[name] as Example;
      return [name, { yaml, typescript: asWritten(typescript, schema), python, go: compilable(go, schema) }];
    }),
  );
}

/** Stores the converted examples, because converting needs Go. */
export function keepExamples(examples: Examples): void {
  writeFileSync(store, `${JSON.stringify(examples, null, 2)}\n`);
}

/**
 * Adapts converted TypeScript to our hand-written package: its classes are components, its enums are strings, and the
 * program imports only the names that it uses.
 */
function asWritten(program: string, { types }: PackageSchema): string {
  let text = program;
  for (const { type, result } of components)
    text = text.replaceAll(`new recommender.${type}(`, `new recommender.${result}(`);
  for (const [token, definition] of Object.entries(types)) {
    const { enum: values = [] } = definition as { enum?: { name: string; value: string }[] };
    for (const { name, value } of values)
      text = text.replaceAll(`recommender.${token.split(":")[2]}.${name}`, JSON.stringify(value));
  }
  if (!text.includes("pulumi.")) text = text.replace(/^import \* as pulumi .*\n/, "");
  return text.replace(/^( {4})+/gm, (spaces) => spaces.slice(spaces.length / 2));
}

/**
 * Fixes converted Go: the generator wraps configuration twice and does not wrap results of lookups. If a lookup has the
 * name of a resource, the SDK calls it `Lookup…`.
 */
function compilable(program: string, { resources }: PackageSchema): string {
  const text = program
    .replace(/pulumi\.String\((pulumi\.String\(\w+\))\)/g, "$1")
    .replace(/\brecommender\.Get(\w+?)(Args)?\b/g, (call, noun, args = "") =>
      token(noun) in resources ? `recommender.Lookup${noun}${args}` : call,
    );
  if (text.includes("recommender.New")) return text;
  return text.replace(/ctx\.Export\((".*"), (.*)\)/g, "ctx.Export($1, pulumi.ToOutput($2))");
}

/** Returns the file name of an example: `event-dataset` for `EventDataset`. */
export function fileNameOf(type: string): string {
  return type.replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}

/** Returns the example of a resource or lookup. Jobs and components use the example of their result. */
export function exampleOf(type: string, examples: Examples): Example | undefined {
  const component = components.find(({ type: own, job }) => type === own || type === job);
  return examples[fileNameOf(component?.result ?? type)];
}

/** Returns the title of an example, from its first line. */
export function titleOf({ yaml }: Example): string {
  return /^# (.*)$/m.exec(yaml)?.[1] ?? "";
}

/** Appends an example to a description, in the format of the SDK generators and the Pulumi registry. */
export function pageOf(text: string, example: Example | undefined): string {
  if (!example) return text;
  const blocks = (["typescript", "python", "go", "yaml"] as const).map(
    (language) => `\`\`\`${language}\n${example[language].replace(/^# .*\n/, "").trim()}\n\`\`\`\n`,
  );
  return (
    `${text}\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### ${titleOf(example)}\n\n` +
    `${blocks.join("")}{{% /example %}}\n{{% /examples %}}\n`
  );
}
