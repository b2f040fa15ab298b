import * as pulumi from "@pulumi/pulumi";
import { confirm } from "./creation-journal";
import { plainSecrets } from "./session";
import type { SettingKey } from "./settings";
import { traceProgram } from "./source-position";

/** A resource of the recommendation service. */
export abstract class Resource extends pulumi.CustomResource {
  /** @internal */
  constructor(
    type: string,
    name: string,
    args: pulumi.Inputs,
    outputs: readonly string[],
    options: pulumi.CustomResourceOptions = {},
  ) {
    const token = `pulumi-nodejs:dynamic/recommender:${type}`;
    const properties: pulumi.Inputs = {
      ...Object.fromEntries(outputs.map((key) => [key, undefined])),
      ...args,
    };
    properties.__provider = stub(type);
    // A dynamic provider is not told whose lifecycle it runs; its messages would stand beside no resource.
    // A promise, not an output: an output would depend on the parent, and through it on every sibling.
    const urn = pulumi.createUrn(name, token, options.parent);
    properties.__urn = new Promise((resolve) => urn.apply(resolve));
    warnOfPlainSecrets();
    const restore = traceProgram();
    try {
      super(token, name, properties, options);
    } finally {
      restore();
    }
    // The engine tells the program an id when the state holds it.
    const told = outputs.map((key) => (this as unknown as Record<string, pulumi.Output<unknown>>)[key]);
    pulumi.all([urn, this.id, ...told]).apply(([whose, ...values]) => heard(whose as string, values));
  }
}

/** What cannot be forgotten here is forgotten by the next run, which sees the id in the state. */
function heard(urn: string, values: readonly unknown[]): void {
  try {
    confirm(urn, new Set(values));
  } catch (error) {
    void pulumi.log.debug(`what was created is not forgotten: ${(error as Error).message}`);
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
  const renamed = (urn: string) => urn.replaceAll(`recommender:${type}::`, `recommender:${sibling}::`);
  if (!aliases) return rest;
  const own = aliases.map((alias) =>
    pulumi
      .output(alias)
      .apply((value) => (typeof value === "string" ? renamed(value) : (value as pulumi.Alias))),
  );
  return { ...rest, aliases: own };
}

/** Arguments over their defaults; an argument that is given as undefined is not given. */
export function declared<Args extends object>(defaults: pulumi.Inputs, args: Args): Args & pulumi.Inputs {
  const given = Object.entries(args).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) } as Args & pulumi.Inputs;
}

/**
 * What enters the state instead of code: the name under which the installed package keeps the lifecycle.
 * It is looked up from the program's folder, so that a package that refers to itself is found too.
 */
export function stub(type: string): string {
  return `exports.handler=()=>require("module").createRequire(process.cwd()+"/")("pulumi-recommender").${type}.lifecycle`;
}

/** Stacks that were looked at; one process may run several of them. */
const warned = new Set<string>();

/** The SDK knows which keys are secret but keeps the question to itself. */
const { isConfigSecret } = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };

function warnOfPlainSecrets(): void {
  const stack = `${pulumi.getProject()}/${pulumi.getStack()}`;
  if (warned.has(stack)) return;
  warned.add(stack);
  const config = new pulumi.Config("recommender");
  const isSecret = (key: SettingKey) => isConfigSecret(`recommender:${key}`);
  for (const key of plainSecrets((name) => config.get(name), isSecret)) {
    pulumi.log.warn(
      `recommender:${key} is kept in the clear. Encrypt it: pulumi config set --secret recommender:${key} VALUE`,
    );
  }
}
