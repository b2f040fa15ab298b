import * as pulumi from "@pulumi/pulumi";
import { bindingSetting } from "../run/configuration";
import { canonicalUrn, pluginTypePrefix, pluginUrn, typePrefix } from "../run/urn";

/** Type prefix of the resources of each binding. */
const prefixes = { dynamic: typePrefix, plugin: pluginTypePrefix };

/** How the engine reaches the resources of a stack: as dynamic resources or through the plugin. */
export type BindingName = keyof typeof prefixes;

/** Hint in error messages about features that need the plugin. */
export const toPlugin =
  "To use the plugin, run `npx recommender plugin install`, then `pulumi config set recommender:binding plugin`.";

/** Deprecated settings that were already reported, each with its stack, because one process may run several stacks. */
const reported = new Set<string>();

/** Returns the binding of the running stack. */
export function currentBinding(): BindingName {
  const config = new pulumi.Config("recommender");
  const setting = bindingSetting((key) => config.get(key));
  if (!setting?.value) return "dynamic";
  const { name, value, replacement } = setting;
  if (!Object.hasOwn(prefixes, value)) {
    throw new pulumi.RunError(`${name} is "${value}". Expected "dynamic" or "plugin".`);
  }
  const occurrence = `${pulumi.getProject()}/${pulumi.getStack()} ${name}`;
  if (replacement && !reported.has(occurrence)) {
    reported.add(occurrence);
    pulumi.log.warn(`${name} is deprecated. Set ${replacement} to "${value}" and remove ${name}.`);
  }
  return value as BindingName;
}

/** Returns the type token that a resource type has with a binding. */
export function tokenOf(type: string, binding: BindingName): string {
  return prefixes[binding] + type;
}

type Aliases = NonNullable<pulumi.CustomResourceOptions["aliases"]>;

/** Adds the aliases that let a stack switch bindings and keep its resources. */
export function aliasesOf(type: string, binding: BindingName, given: Aliases = []): Aliases {
  const other = tokenOf(type, binding === "plugin" ? "dynamic" : "plugin");
  return [...given, { type: other }, ...given.map((alias) => withOtherBinding(alias, other))];
}

/** Converts an alias from the program to the corresponding alias with the other binding. */
function withOtherBinding(alias: Aliases[number], type: string): pulumi.Output<pulumi.URN | pulumi.Alias> {
  const swap = type.startsWith(typePrefix) ? canonicalUrn : pluginUrn;
  return pulumi
    .output(alias)
    .apply((known) => (typeof known === "string" ? swap(known) : { ...(known as pulumi.Alias), type }));
}
