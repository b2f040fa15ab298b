import * as pulumi from "@pulumi/pulumi";
import "../dynamic/binding";
import { stub } from "../dynamic/stub";
import type { Rules } from "../lifecycle/definition";
import { eraseStored } from "../recovery/journal";
import { aliasesOf, currentBinding, tokenOf } from "./binding";
import { checkConfiguration, checkDeclaration, secretSettings } from "./program-check";
import { isKnown } from "./sdk-internals";
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
      ...given,
      aliases: aliasesOf(type, binding, given.aliases),
      ...(secret.length > 0 && { additionalSecretOutputs: secret }),
    };
    if (given.provider === undefined) checkConfiguration(binding);
    checkDeclaration(`${type} ${name}`, args, options, binding);
    const token = tokenOf(type, binding);
    const properties: pulumi.Inputs = {
      // Every property is declared, so the program has an output for it. The lifecycle sets the defaults.
      ...Object.fromEntries([...outputNames, ...argumentNames].map((key) => [key, undefined])),
      ...args,
    };
    // Outside a preview, a value is unknown only if another resource has failed. The provider needs the names of these
    // arguments.
    if (!pulumi.runtime.isDryRun())
      properties.__unresolved = namesWhere(args, async (output) => !(await isKnown(output)));
    const urn = pulumi.createUrn(name, token, options.parent);
    if (binding === "dynamic") {
      properties.__provider = stub(type);
      // The engine does not report to a dynamic provider which arguments are secret.
      properties.__secret = namesWhere(args, pulumi.isSecret, secretSettings());
      // A dynamic provider cannot report changed arguments to the engine, so it applies `replaceOnChanges` itself.
      if (options.replaceOnChanges?.length) properties.__replaceOn = options.replaceOnChanges;
      // A dynamic provider does not know the URN, which its messages need. This is a promise because an output would
      // depend on the parent, and through it on every sibling.
      properties.__urn = new Promise((resolve) => urn.apply(resolve));
    }
    const restore = traceProgram();
    try {
      super(token, name, properties, options);
    } finally {
      restore();
    }
    // The id becomes known to the program after the engine has stored it.
    const outputs = outputNames.map(
      (key) => (this as unknown as Record<string, pulumi.Output<unknown>>)[key],
    );
    pulumi.all([urn, this.id, ...outputs]).apply(([ownUrn, ...values]) => onStored(ownUrn as string, values));
  }
}

/** Returns the names of the arguments that match a predicate, plus `others`. Undefined if there are none. */
async function namesWhere(
  args: pulumi.Inputs,
  predicate: (output: pulumi.Output<unknown>) => Promise<boolean>,
  others: readonly string[] = [],
): Promise<string[] | undefined> {
  const names = await Promise.all(
    Object.entries(args).map(async ([name, value]) =>
      (await predicate(pulumi.output(value))) ? [name] : [],
    ),
  );
  const all = [...names.flat(), ...others];
  return all.length > 0 ? all : undefined;
}

/**
 * Erases the recovery journal entries of a resource that the engine has stored. If that fails, the next run erases
 * them, because it sees the id in the state.
 */
async function onStored(urn: string, values: readonly unknown[]): Promise<void> {
  try {
    await eraseStored(urn, new Set(values));
  } catch (error) {
    void pulumi.log.debug(`could not erase a recovery journal entry: ${(error as Error).message}`);
  }
}

/**
 * Converts a resource's options to the options of its job, which has the same name. Types in aliases become the type of
 * the job. Hooks and `additionalSecretOutputs` apply only to the resource itself.
 */
export function jobOptions(
  options: pulumi.CustomResourceOptions | undefined,
  type: string,
  sibling: string,
): pulumi.CustomResourceOptions {
  const { hooks: _, aliases, additionalSecretOutputs: __, ...rest } = options ?? {};
  if (rest.import !== undefined && currentBinding() === "plugin") {
    throw new pulumi.RunError(
      `${type}: if you use the import option, also set existingId. Otherwise a ${sibling} would be submitted.`,
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
