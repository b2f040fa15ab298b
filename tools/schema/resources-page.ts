import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { definitions } from "../../provider/definitions";
import { lookups } from "../../provider/lookups";
import { type Component, components } from "../../provider/plugin/components";
import { type Examples, exampleOf } from "./examples";
import { block, code, codes, defaultOf, lead, meaning, table, withMembers } from "./tables";
import { type PackageSchema, type PropertySpec, token } from "./types";

const file = join(__dirname, "../../docs/resources.md");

/** The resources of TypeScript programs, in the order in which a program needs them. */
const order = [
  ...["UserDataset", "ItemDataset", "EventDataset", "UserRecords", "ItemRecords", "EventRecords"],
  ...["Project", "Algorithm", "Model", "Deployment", "UserQuery", "UserClustering", "UserRecommendations"],
];

type Section = (schema: PackageSchema, examples: Examples) => string;

/** Generated regions of the page, by the name in the comment that starts them. */
const parts: Readonly<Record<string, readonly Section[]>> = {
  resources: order.map((type) => (schema, examples) => resourceSection(type, schema, examples)),
  components: components.map((one) => (schema, examples) => componentSection(one, schema, examples)),
  lookups: Object.keys(lookups).map((name) => (schema, examples) => lookupSection(name, schema, examples)),
};

/** Returns docs/resources.md with the generated description of every resource and lookup. */
export function renewedPage(schema: PackageSchema, examples: Examples): string {
  let page = readFileSync(file, "utf8");
  for (const [name, sections] of Object.entries(parts)) {
    const begin = `<!-- npm run schema writes ${name} from here -->`;
    const from = page.indexOf(begin);
    const to = page.indexOf("<!-- to here -->", from);
    if (from < 0 || to < 0) throw new Error(`docs/resources.md has no ${begin}, or no end of that region.`);
    const texts = sections.map((section) => section(schema, examples));
    page = `${page.slice(0, from)}${begin}\n\n${texts.join("\n")}\n${page.slice(to)}`;
  }
  return page;
}

/** Writes docs/resources.md. */
export function writePage(schema: PackageSchema, examples: Examples): void {
  writeFileSync(file, renewedPage(schema, examples));
}

function resourceSection(type: string, { resources, types }: PackageSchema, examples: Examples): string {
  const component = components.find(({ result }) => result === type);
  const job = component && definitions[component.job];
  const own = known(resources[token(type)], type);
  const whole = component && resources[token(component.type)];
  const inputs = { ...whole?.inputProperties, ...own.inputProperties };
  const arguments_ = Object.entries(inputs)
    .filter(([key]) => key !== "submittedJobId")
    .flatMap(([key, spec]) =>
      withMembers(key, spec, types).map(([path, member]) => [
        code(path),
        meaning(member, types),
        path === "name" ? "the logical name" : defaultOf(path, member, own.requiredInputs),
        path === key ? consequence(key, type, job?.type) : "",
      ]),
    );
  const outputs = Object.entries(own.properties).filter(
    ([key]) => !(key in inputs) && key !== "submittedJobId",
  );
  return [
    `## ${type}\n`,
    lead(own),
    block("ts", known(exampleOf(type, examples), type).typescript),
    ...table(["argument", "meaning", "default", "another value"], arguments_),
    ...outputTable(outputs, types),
  ].join("\n");
}

/** Lists a component and its resources, with their names in other languages. */
function componentSection(
  { type, job, result }: Component,
  { resources }: PackageSchema,
  examples: Examples,
): string {
  const rows = [type, job, result].map((name) => {
    const { inputProperties, requiredInputs, properties } = known(resources[token(name)], name);
    const optional = Object.keys(inputProperties).filter((key) => !requiredInputs.includes(key));
    const outputs = Object.keys(properties).filter((key) => !(key in inputProperties));
    return [code(name), codes(requiredInputs), codes(optional), codes(outputs)];
  });
  const program = known(exampleOf(type, examples), type).yaml.replace(/^# .*\n/, "");
  return [
    `### ${type}\n`,
    lead(known(resources[token(type)], type)),
    block("yaml", program),
    ...table(["resource", "required arguments", "optional arguments", "outputs"], rows),
    `#### ${job}\n`,
    lead(known(resources[token(job)], job)),
  ].join("\n");
}

function lookupSection(name: string, { functions, types }: PackageSchema, examples: Examples): string {
  const lookup = known(functions[token(name)], name);
  const arguments_ = Object.entries(lookup.inputs.properties).map(([key, spec]) => [
    code(key),
    meaning(spec, types),
    defaultOf(key, spec, lookup.inputs.required),
  ]);
  return [
    `### ${name}\n`,
    lead(lookup),
    block("ts", known(exampleOf(name, examples), name).typescript),
    ...table(["argument", "meaning", "default"], arguments_),
    ...outputTable(Object.entries(lookup.outputs.properties), types),
  ].join("\n");
}

function outputTable(outputs: readonly [string, PropertySpec][], types: PackageSchema["types"]): string[] {
  const members = outputs.flatMap(([key, spec]) => withMembers(key, spec, types));
  return table(
    ["output", "meaning"],
    members.map(([path, spec]) => [code(path), meaning(spec, types)]),
  );
}

function known<T>(value: T | undefined, type: string): T {
  if (value === undefined) throw new Error(`docs/resources.md: the schema does not contain ${type}.`);
  return value;
}

/** Returns the effect of changing an argument, according to the rules of the resource and its job. */
function consequence(key: string, type: string, job: string | undefined): string {
  if (key === "existingId") return "replaced, unless it is the current id";
  const bearers = [job, type].flatMap((name) => (name && definitions[name]) || []);
  const own = bearers.filter(({ argumentNames }) => argumentNames.includes(key));
  if (own.some(({ replaceOn }) => replaceOn.includes(key))) return "replaced";
  const heeded = own.filter(({ ignoreChanges }) => !ignoreChanges.includes(key));
  if (heeded.length === 0) return "nothing";
  return heeded.some((noun) => noun.type === job) ? "another job, in place" : "in place";
}
