import * as pulumi from "@pulumi/pulumi";
import { carrierKey, carrierVariable } from "../run/engine";
import { carriedUrn, pluginTypePrefix, pluginUrn, typePrefix } from "../run/urn";

/** What the types of resources begin with, by what carries them. */
const prefixes = { dynamic: typePrefix, plugin: pluginTypePrefix };

/** What carries the resources of a stack: a dynamic provider, or the plugin. */
export type CarrierName = keyof typeof prefixes;

/** How a stack gets the plugin. */
export const toPlugin =
  "With the plugin it works: `npx recommender plugin install`, then `pulumi config set recommender:carrier plugin`.";

/** What carries the resources of the running stack; the environment wins, as always. */
export function carrierHere(): CarrierName {
  const fromStack = new pulumi.Config("recommender").get(carrierKey);
  const fromEnvironment = process.env[carrierVariable];
  const chosen = fromEnvironment || fromStack || "dynamic";
  if (Object.hasOwn(prefixes, chosen)) return chosen as CarrierName;
  const where = fromEnvironment ? carrierVariable : `recommender:${carrierKey}`;
  throw new pulumi.RunError(`${where}: expected dynamic or plugin.`);
}

/** The type of a resource under a carrier. */
export function tokenOf(type: string, carrier: CarrierName): string {
  return prefixes[carrier] + type;
}

type Aliases = NonNullable<pulumi.CustomResourceOptions["aliases"]>;

/** The aliases of a resource, with those by which the state of the other carrier is the same resource. */
export function aliasesOf(type: string, carrier: CarrierName, given: Aliases = []): Aliases {
  const other = tokenOf(type, carrier === "plugin" ? "dynamic" : "plugin");
  return [...given, { type: other }, ...given.map((alias) => overThere(alias, other))];
}

/** What an alias of the program means under the other carrier. */
function overThere(alias: Aliases[number], type: string): pulumi.Output<pulumi.URN | pulumi.Alias> {
  const swap = type.startsWith(typePrefix) ? carriedUrn : pluginUrn;
  return pulumi
    .output(alias)
    .apply((known) => (typeof known === "string" ? swap(known) : { ...(known as pulumi.Alias), type }));
}
