import * as pulumi from "@pulumi/pulumi";
import "../dynamic/binding";
import { stub } from "../dynamic/stub";
import type { Rules } from "../lifecycle/definition";
import { eraseStored } from "../recovery/journal";
import { aliasesOf, currentBinding, tokenOf } from "./binding";
import { checkConfiguration, checkDeclaration, secretSettings } from "./program-check";
import { traceProgram } from "./source-position";

/** A resource of the recommendation service. */
export abstract class Resource extends pulumi.CustomResource {
  /** @internal */
  constructor(
    { type, argumentNames, outputNames, secretOutputs }: Rules,
    name: string,
    args: object,
    given: pulumi.CustomResourceOptions = {},
  ) {
    const secret = [...secretOutputs, ...(given.additionalSecretOutputs ?? [])];
    const binding = currentBinding();
    const options = {
      ...{ ...given, aliases: aliasesOf(type, binding, given.aliases) },
      ...(secret.length > 0 && { additionalSecretOutputs: secret }),
    };
    if (given.provider === undefined) checkConfiguration(binding);
    checkDeclaration(`${type} ${name}`, args, options, binding);
    const token = tokenOf(type, binding);
    const properties: pulumi.Inputs = {
      // What is left out gets its default from the lifecycle, and the program an output for it.
      ...Object.fromEntries([...outputNames, ...argumentNames].map((key) => [key, undefined])),
      ...args,
    };
    // An update meets values that are not known only after another resource has failed; the provider would miss them.
    if (!pulumi.runtime.isDryRun())
      properties.__unresolved = namesWhere(args, async ({ isKnown }) => !(await isKnown));
    const urn = pulumi.createUrn(name, token, options.parent);
    if (binding === "dynamic") {
      properties.__provider = stub(type);
      // The engine hands a dynamic provider what is secret like anything else.
      properties.__secret = namesWhere(args, ({ isSecret }) => isSecret, secretSettings());
      // A dynamic provider cannot tell the engine which arguments changed, so that it decides on the option itself.
      if (options.replaceOnChanges?.length) properties.__replaceOn = options.replaceOnChanges;
      // Nor does it know whose lifecycle it runs; its messages would name no resource.
      // A promise, not an output: an output would depend on the parent, and through it on every sibling.
      properties.__urn = new Promise((resolve) => urn.apply(resolve));
    }
    const restore = traceProgram();
    try {
      super(token, name, properties, options);
    } finally {
      restore();
    }
    // The engine tells the program an id when the state holds it.
    const told = outputNames.map((key) => (this as unknown as Record<string, pulumi.Output<unknown>>)[key]);
    pulumi.all([urn, this.id, ...told]).apply(([whose, ...values]) => onStored(whose as string, values));
  }
}

/** What the SDK knows of an output beside its value. */
interface Known {
  readonly isKnown: Promise<boolean>;
  readonly isSecret: Promise<boolean>;
}

/** The arguments of which something is so, and others; undefined where there are none. */
async function namesWhere(
  args: pulumi.Inputs,
  isSo: (output: Known) => Promise<boolean>,
  others: readonly string[] = [],
): Promise<string[] | undefined> {
  const names = await Promise.all(
    Object.entries(args).map(async ([name, value]) =>
      (await isSo(pulumi.output(value) as unknown as Known)) ? [name] : [],
    ),
  );
  const all = [...names.flat(), ...others];
  return all.length > 0 ? all : undefined;
}

/** What cannot be forgotten here is forgotten by the next run, which sees the id in the state. */
async function onStored(urn: string, values: readonly unknown[]): Promise<void> {
  try {
    await eraseStored(urn, new Set(values));
  } catch (error) {
    void pulumi.log.debug(`could not erase a recovery journal entry: ${(error as Error).message}`);
  }
}

/**
 * The options of a resource for one that stands beside it under the same name.
 * Aliases that name the type are those of the sibling; hooks belong to the resource itself.
 */
export function siblingOptions(
  options: pulumi.CustomResourceOptions | undefined,
  type: string,
  sibling: string,
): pulumi.CustomResourceOptions {
  const { hooks: _, aliases, additionalSecretOutputs: __, ...rest } = options ?? {};
  if (rest.import !== undefined && currentBinding() === "plugin") {
    throw new pulumi.RunError(
      `${type}: with the option import, set existingId too; without it a ${sibling} is submitted.`,
    );
  }
  const own = new RegExp(`(recommender:(?:index:)?)${type}(?=::|$)`, "g");
  const renamed = (text: string) => text.replace(own, `$1${sibling}`);
  if (!aliases) return rest;
  const ofSibling = aliases.map((given) =>
    pulumi.output(given).apply((known) => {
      if (typeof known === "string") return renamed(known);
      const alias = known as pulumi.Alias;
      return typeof alias.type === "string" ? { ...alias, type: renamed(alias.type) } : alias;
    }),
  );
  return { ...rest, aliases: ofSibling };
}
