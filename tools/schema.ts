import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { environmentName, type SettingKey, secretKeys, settingKeys } from "../client/settings";
import type { Route } from "../contract";
import { license, version, description as wholeText } from "../package.json";
import { definitions } from "../provider/definitions";
import type { Rules } from "../provider/lifecycle/definition";
import { lookups } from "../provider/lookups";
import { components } from "../provider/plugin/components";
import { pinnedModelsKey, pinnedModelsVariable } from "../provider/run/pinned";
import {
  convertExamples,
  convertedExamples,
  type Examples,
  exampleOf,
  keepExamples,
  pageOf,
  writtenExamples,
} from "./schema/examples";
import { languages } from "./schema/languages";
import { writePage } from "./schema/resources-page";
import { type Field, type Fields, Sources } from "./schema/sources";
import {
  any,
  capital,
  deprecation,
  type FunctionSpec,
  type PropertySpec,
  type ResourceSpec,
  Types,
  token,
} from "./schema/types";

const root = join(__dirname, "..");

/** Returns the resource type in the state of programs that use the dynamic binding. */
const dynamicType = (type: string) => `pulumi-nodejs:dynamic/recommender:${type}`;

/** The setting for pinned models. It is not an argument of `Provider`, because pins belong to the stack. */
const pinned: PropertySpec = {
  type: "string",
  description:
    "Models that serve whatever the program declares, by the names of deployments, as JSON; `recommender rollback` " +
    `writes it. Also ${pinnedModelsVariable} in the environment.`,
};

/**
 * Builds the Pulumi package schema from the schemas of the resources, the TSDoc of their classes, and their examples.
 */
export function packageSchema(examples: Examples, sources = new Sources()) {
  // A field that is secret in a resource is secret in lookups too.
  const secrets = new Set(Object.values(definitions).flatMap(({ secretOutputs }) => secretOutputs));
  const types = new Types(sources, secrets);
  const resources: Record<string, ResourceSpec> = {};
  for (const rules of Object.values(definitions))
    resources[token(rules.type)] = resource(rules, types, examples);
  for (const { type, job, result, description } of components)
    resources[token(type)] = {
      description: pageOf(description, exampleOf(type, examples)),
      isComponent: true,
      ...joined(resources[token(job)], resources[token(result)]),
    };
  const functions = Object.fromEntries(
    Object.entries(lookups).map(([name, route]) => [token(name), lookup(name, route, types, examples)]),
  );
  const variables = settings(types);
  if (types.undescribed.length > 0)
    throw new Error(`No description of ${types.undescribed.join(", ")}. Add a sentence of TSDoc to each.`);
  return {
    name: "recommender",
    displayName: "Recommender",
    version,
    description: wholeText,
    keywords: ["pulumi", "recommender", "category/infrastructure", "kind/native"],
    license,
    meta: { moduleFormat: "(.*)" },
    language: languages,
    config: { variables: { ...variables, [pinnedModelsKey]: pinned } as Record<string, PropertySpec> },
    provider: { description: "The service that resources belong to.", inputProperties: variables },
    types: sorted(types.named),
    resources,
    functions,
  };
}

function resource(rules: Rules, types: Types, examples: Examples): ResourceSpec {
  const { type, args, outputs, secretOutputs, replaceOn } = rules;
  const documented = types.sources.resource(type);
  if (!documented.text) types.undescribed.push(type);
  const declared = types.object(args, type, documented.args, documented.outputs);
  const given = types.object(visible(outputs), type, documented.outputs);
  // Values that the lifecycle computes are not arguments of programs.
  const isInput = ([key]: [string, unknown]) => documented.args.has(key) || key === "submittedJobId";
  const inputs = Object.entries(declared.properties)
    .filter(isInput)
    .map(([key, spec]) => [key, accepted(spec, documented.args.get(key), types)] as const);
  return {
    description: pageOf(documented.text, exampleOf(type, examples)),
    ...deprecation(documented.deprecated),
    inputProperties: Object.fromEntries(
      inputs.map(([key, spec]) => [
        key,
        replaceOn.includes(key) ? { ...spec, willReplaceOnChanges: true } : spec,
      ]),
    ),
    requiredInputs: declared.required.filter((key) => documented.args.get(key)?.optional === false),
    properties: Object.fromEntries(
      Object.entries({ ...declared.properties, ...given.properties }).map(([key, spec]) => [
        key,
        {
          ...asOutput(spec, (documented.outputs.get(key) ?? documented.args.get(key))?.deprecated),
          ...(secretOutputs.includes(key) && { secret: true }),
        },
      ]),
    ),
    required: [...declared.required, ...given.required],
    aliases: [{ type: dynamicType(type) }],
  };
}

/** Removes the properties whose names start with `__`, which are hidden from programs. */
function visible({ shape }: Rules["outputs"]): Rules["outputs"] {
  return z.object(Object.fromEntries(Object.entries(shape).filter(([key]) => !key.startsWith("__"))));
}

/**
 * Accepts any type for arguments to which programs may also pass records and assets. `check` replaces these with the
 * name of a file.
 */
function accepted(spec: PropertySpec, field: Field | undefined, { sources }: Types): PropertySpec {
  if (spec.type !== "string" || !field || !sources.takesAsset(field.type)) return spec;
  const { type: _, ...rest } = spec;
  return { ...any, ...rest };
}

function mapped<T, U>(record: Readonly<Record<string, T>>, to: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value)]));
}

/** Returns the output for an argument. An argument and its output can be deprecated independently. */
function asOutput(
  { default: _, deprecationMessage: __, ...spec }: PropertySpec,
  deprecated: string | undefined,
): PropertySpec {
  return { ...spec, ...deprecation(deprecated) };
}

/**
 * Returns the properties of a component, which declares a job and its result. Arguments that link the two are left out.
 */
function joined(job: ResourceSpec | undefined, result: ResourceSpec | undefined) {
  if (!job || !result)
    throw new Error(
      "The job or the result of a component is not a resource. Check provider/plugin/components.ts.",
    );
  const own = <T>(properties: Readonly<Record<string, T>>) =>
    Object.fromEntries(
      Object.entries(properties).filter(([key]) => key !== "submittedJobId" && key !== "existingId"),
    );
  return {
    ...deprecation(result.deprecationMessage ?? job.deprecationMessage),
    inputProperties: own({ ...result.inputProperties, ...job.inputProperties }),
    requiredInputs: [...new Set([...job.requiredInputs, ...result.requiredInputs])],
    // The resources of a component mark their secrets.
    // If the component marked the secrets too, the Java SDK would not compile.
    properties: own(mapped(result.properties, ({ secret: _, ...spec }) => spec)),
    required: result.required,
  };
}

function lookup(name: string, { request, reply }: Route, types: Types, examples: Examples): FunctionSpec {
  const { text, deprecated, args } = types.sources.lookup(name);
  if (!text) types.undescribed.push(name);
  // The Go SDK already uses `RecommendResult` as the name of the whole response.
  const prefix = name === "recommend" ? "Recommended" : capital(name);
  const inputs = types.message(request, prefix, args);
  const { properties, required } = types.message(reply, prefix);
  return {
    description: pageOf(text, exampleOf(name, examples)),
    ...deprecation(deprecated),
    // Add the address of the call, which is not part of the request.
    inputs: { ...inputs, properties: { ...inputs.properties, ...servingUriIn(args) } },
    // Leave out fields that can have any type, because the Python SDK cannot read a response with such a field.
    outputs: {
      properties: Object.fromEntries(
        Object.entries(properties).filter(([, { $ref }]) => $ref !== "pulumi.json#/Any"),
      ),
      required,
    },
  };
}

/** The argument with the address of a call. */
function servingUriIn(args: Fields): Record<string, PropertySpec> {
  const field = args.get("servingUri");
  if (!field) return {};
  return {
    servingUri: { type: "string", description: field.text, ...deprecation(field.deprecated) },
  };
}

/** Returns the configuration of the provider. */
function settings(types: Types): Record<string, PropertySpec> {
  const texts = types.sources.membersOf("client/settings.ts", "schema");
  const variable = (key: SettingKey): PropertySpec => {
    const words = texts.get(key);
    if (!words?.text) types.undescribed.push(`recommender:${key}`);
    return {
      type: "string",
      // The plugin reads the environment variable. If SDKs read it too, they would write its value to the state.
      // The plugin could not distinguish that value from a value in the program.
      description: `${words?.text} Also ${environmentName(key)} in the environment.`,
      ...deprecation(words?.deprecated),
      ...(secretKeys.some((one) => one === key) && { secret: true }),
    };
  };
  return Object.fromEntries(settingKeys.map((key) => [key, variable(key)]));
}

function sorted<T>(named: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(named).sort(([a], [b]) => a.localeCompare(b, "en")));
}

/**
 * `npm run schema [-- --examples]`: writes schema.json and docs/resources.md. Converts changed examples, or all with
 * `--examples`.
 */
function main(): void {
  const file = join(root, "schema.json");
  const write = (examples: Examples) => {
    const schema = packageSchema(examples);
    writeFileSync(file, `${JSON.stringify(schema, null, 2)}\n`);
    return schema;
  };
  const schema = write(convertedExamples());
  const kept = Object.entries(convertedExamples()).map(([name, { yaml }]) => [name, yaml]);
  const isFresh = isDeepStrictEqual(Object.fromEntries(kept), writtenExamples());
  if (!isFresh || process.argv.includes("--examples")) {
    keepExamples(convertExamples(schema));
    write(convertedExamples());
  }
  writePage(schema, convertedExamples());
  console.log(`wrote ${file}: ${Object.keys(schema.resources).length} resources`);
}

if (require.main === module) main();
