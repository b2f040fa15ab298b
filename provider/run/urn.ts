/** Type prefix of the resources with the dynamic binding. */
export const typePrefix = "pulumi-nodejs:dynamic/recommender:";

/** Type prefix of the resources with the plugin binding. */
export const pluginTypePrefix = "recommender:index:";

const ours = new RegExp(`(?:^|\\$)(?:${typePrefix}|${pluginTypePrefix})(\\w+)$`);

/** What a URN says; `type` begins with the types of the components that the resource is in. */
export function partsOf(urn: string | undefined): {
  stack: string;
  project: string;
  type: string;
  name: string;
} {
  const [stack = "", project = "", type = "", ...name] = urn?.replace("urn:pulumi:", "").split("::") ?? [];
  return { stack, project, type, name: name.join("::") };
}

/** The name that the program gives a resource; never secret, unlike the argument `name`. */
export function logicalName(urn: string | undefined): string {
  return partsOf(urn).name;
}

/** A resource as people know it: `EventDataset clicks`. */
export function titleOf({ type, name }: { readonly type: string; readonly name: string }): string {
  return `${type.slice(type.lastIndexOf(":") + 1)} ${name}`;
}

/** The definition of a resource of this package; undefined for those of others. */
export function resourceTypeOf(type: string): string | undefined {
  return ours.exec(type)?.[1];
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

/** Whether the engine made a provider from the configuration of the stack; otherwise the program declares it. */
export function isDefaultProvider(urn: string): boolean {
  return /^default(_\d+[._]\d+[._]\d+.*|_\w+_\/.*)?$/.test(partsOf(urn).name);
}
