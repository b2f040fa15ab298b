/** Type prefix of the resources with the dynamic binding. */
export const typePrefix = "pulumi-nodejs:dynamic/recommender:";

/** Type prefix of the resources with the plugin binding. */
export const pluginTypePrefix = "recommender:index:";

const packageType = new RegExp(`(?:^|\\$)(?:${typePrefix}|${pluginTypePrefix})(\\w+)$`);

/** Splits a URN. `type` starts with the types of the components that contain the resource. */
export function partsOf(urn: string | undefined): {
  stack: string;
  project: string;
  type: string;
  name: string;
} {
  const [stack = "", project = "", type = "", ...name] = urn?.replace("urn:pulumi:", "").split("::") ?? [];
  return { stack, project, type, name: name.join("::") };
}

/** Returns the stack in a URN as `project/stack`. */
export function stackIdOf(urn: string): string {
  const { project, stack } = partsOf(urn);
  return `${project}/${stack}`;
}

/** Returns the logical name of a resource. It is never secret, unlike the argument `name`. */
export function logicalName(urn: string | undefined): string {
  return partsOf(urn).name;
}

/** Returns the name of a resource for messages, such as `EventDataset clicks`. */
export function titleOf({ type, name }: { readonly type: string; readonly name: string }): string {
  return `${type.slice(type.lastIndexOf(":") + 1)} ${name}`;
}

/** Returns the name of a resource of any stack for messages, such as `EventDataset clicks of stack dev`. */
export function titleInStack(urn: string): string {
  const { stack, ...resource } = partsOf(urn);
  return `${titleOf(resource)} of stack ${stack}`;
}

/** Whether two URNs belong to the same resource, or to a resource and its job, which has the same name. */
export function isSameResource(one: string, other: string): boolean {
  const [a, b] = [one, other].map((urn) => partsOf(canonicalUrn(urn)));
  return a?.stack === b?.stack && a?.project === b?.project && a?.name === b?.name;
}

/** Returns the resource type without prefix, such as `EventDataset`. Undefined for resources of other packages. */
export function resourceTypeOf(type: string): string | undefined {
  return packageType.exec(type)?.[1];
}

/** Returns the URN that a resource has with the dynamic binding, to compare URNs of both bindings. */
export function canonicalUrn(urn: string): string {
  const parts = urn.split("::");
  parts[2] = (parts[2] ?? "").replace(/(^|\$)recommender:index:/g, `$1${typePrefix}`);
  return parts.join("::");
}

/** Whether a resource has the plugin binding. */
export function isOfPlugin(urn: string): boolean {
  return canonicalUrn(urn) !== urn;
}

/** Returns the URN that a resource has with the plugin binding. */
export function pluginUrn(urn: string): string {
  const parts = urn.split("::");
  parts[2] = (parts[2] ?? "").replaceAll(typePrefix, pluginTypePrefix);
  return parts.join("::");
}

/** Whether a provider is the default provider of the stack. The program declares all other providers. */
export function isDefaultProvider(urn: string): boolean {
  return /^default(_\d+[._]\d+[._]\d+.*|_\w+_\/.*)?$/.test(partsOf(urn).name);
}
