import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nouns } from "../../provider/nouns";
import { components } from "../../provider/plugin/components";
import { type Examples, exampleOf } from "./examples";
import { type ObjectSpec, type PackageSchema, type PropertySpec, token } from "./types";

const file = join(__dirname, "../../docs/resources.md");

/** The nouns that programs declare, in the order in which a program needs them. */
const order = [
  ...["UserDataset", "ItemDataset", "EventDataset", "UserRecords", "ItemRecords", "EventRecords"],
  ...["Project", "Algorithm", "Model", "Deployment", "UserQuery", "UserClustering"],
];

const [begin, end] = ["<!-- npm run schema writes from here -->", "<!-- to here -->"];

/** docs/resources.md with what the schema says of every resource. */
export function renewedPage(schema: PackageSchema, examples: Examples): string {
  const page = readFileSync(file, "utf8");
  const [before, rest = ""] = page.split(begin);
  const after = rest.split(end)[1];
  if (after === undefined) throw new Error(`docs/resources.md lacks ${begin} or ${end}`);
  const sections = order.map((type) => section(type, schema, examples));
  return `${before}${begin}\n\n${sections.join("\n")}\n${end}${after}`;
}

/** Writes docs/resources.md. */
export function writePage(schema: PackageSchema, examples: Examples): void {
  writeFileSync(file, renewedPage(schema, examples));
}

function section(type: string, { resources, types }: PackageSchema, examples: Examples): string {
  const component = components.find(({ result }) => result === type);
  const job = component && nouns[component.job];
  const { description, properties } = known(resources[token(type)], type);
  const whole = component && resources[token(component.type)];
  const inputs = { ...whole?.inputProperties, ...resources[token(type)]?.inputProperties };
  const required = [...(resources[token(type)]?.requiredInputs ?? [])];
  const arguments_ = Object.entries(inputs)
    .filter(([key]) => key !== "submittedJobId")
    .flatMap(([key, spec]) => [
      row([
        code(key),
        meaning(spec, types),
        defaultOf(key, spec, required),
        consequence(key, type, job?.type),
      ]),
      ...membersOf(key, spec, types).map(([name, member]) =>
        row([code(name), meaning(member, types), defaultOf("", member, []), ""]),
      ),
    ]);
  const outputs = Object.entries(properties)
    .filter(([key]) => !(key in inputs) && key !== "submittedJobId")
    .flatMap(([key, spec]) => [[key, spec] as const, ...membersOf(key, spec, types)])
    .map(([key, spec]) => row([code(key), meaning(spec, types)]));
  const [text = ""] = description.split("\n\n{{% examples %}}");
  const example = known(exampleOf(type, examples), type).typescript.trim();
  return [
    `## ${type}\n`,
    `${text}\n`,
    `\`\`\`ts\n${example}\n\`\`\`\n`,
    row(["argument", "meaning", "default", "another value"]),
    "|---|---|---|---|",
    ...arguments_,
    "",
    row(["output", "meaning"]),
    "|---|---|",
    ...outputs,
    "",
  ].join("\n");
}

function known<T>(value: T | undefined, type: string): T {
  if (value === undefined) throw new Error(`docs/resources.md: nothing is known of ${type}`);
  return value;
}

const code = (text: string) => `\`${text}\``;
const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;

/** What a value means, and which ones there are. */
function meaning({ description = "", secret, ...spec }: PropertySpec, types: PackageSchema["types"]): string {
  const values = enumOf(spec.additionalProperties ?? spec, types);
  const text = description.replaceAll("\n", " ").replaceAll("|", "\\|");
  const words = values.length > 1 ? ` One of ${values.map(code).join(", ")}.` : "";
  return `${text}${words}${secret ? " Secret." : ""}`;
}

/** What an object holds, by its path. */
function membersOf(key: string, { $ref = "" }: PropertySpec, types: PackageSchema["types"]) {
  const { properties = {} } = (types[$ref.replace("#/types/", "")] ?? {}) as Partial<ObjectSpec>;
  return Object.entries(properties).map(([name, spec]) => [`${key}.${name}`, spec] as const);
}

function enumOf({ $ref = "" }: PropertySpec, types: PackageSchema["types"]): string[] {
  const { enum: values = [] } = (types[$ref.replace("#/types/", "")] ?? {}) as { enum?: { value: string }[] };
  return values.map(({ value }) => value);
}

function defaultOf(key: string, spec: PropertySpec, required: readonly string[]): string {
  if (required.includes(key)) return "required";
  if (key === "name") return "the logical name";
  return spec.default === undefined ? "" : code(String(spec.default));
}

/** What another value of an argument leads to, by the rules of the noun and of its job. */
function consequence(key: string, type: string, job: string | undefined): string {
  if (key === "existingId") return "replaced, unless it is the id it has";
  const bearers = [job, type].flatMap((name) => (name && nouns[name]) || []);
  const own = bearers.filter(({ argumentNames }) => argumentNames.includes(key));
  if (own.some(({ replaceOn }) => replaceOn.includes(key))) return "replaced";
  const heeded = own.filter(({ ignoreChanges }) => !ignoreChanges.includes(key));
  if (heeded.length === 0) return "nothing";
  return heeded.some((noun) => noun.type === job) ? "another job, in place" : "in place";
}
