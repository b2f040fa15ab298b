import * as pulumi from "@pulumi/pulumi";
import { plainSecrets } from "./session";
import type { SettingKey } from "./settings";

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
    properties.__urn = pulumi.createUrn(name, token, options.parent);
    warnOfPlainSecrets();
    super(token, name, properties, options);
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

/**
 * What enters the state instead of code: the name under which the installed package keeps the lifecycle.
 * It is looked up from the program's folder, so that a package that refers to itself is found too.
 */
export function stub(type: string): string {
  return `exports.handler=()=>require("module").createRequire(process.cwd()+"/")("pulumi-recommender").${type}.lifecycle`;
}

let warned = false;

function warnOfPlainSecrets(): void {
  if (warned) return;
  warned = true;
  const config = new pulumi.Config("recommender");
  const secretKeys: string[] = JSON.parse(process.env.PULUMI_CONFIG_SECRET_KEYS ?? "[]");
  const isSecret = (key: SettingKey) => secretKeys.includes(`recommender:${key}`);
  for (const key of plainSecrets((name) => config.get(name), isSecret)) {
    pulumi.log.warn(
      `recommender:${key} is kept in the clear. Encrypt it: pulumi config set --secret recommender:${key} VALUE`,
    );
  }
}
