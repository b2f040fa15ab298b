/** Begins the type of every resource of this package. */
export const typePrefix = "pulumi-nodejs:dynamic/recommender:";

const ours = new RegExp(`${typePrefix}(\\w+)$`);

/** What a URN says; `type` begins with the types of the components that the resource is in. */
export function partsOf(urn: string | undefined): { stack: string; type: string; name: string } {
  const [stack = "", , type = "", ...name] = urn?.replace("urn:pulumi:", "").split("::") ?? [];
  return { stack, type, name: name.join("::") };
}

/** The name that the program gives a resource; never secret, unlike the argument `name`. */
export function logicalName(urn: string | undefined): string {
  return partsOf(urn).name;
}

/** A resource as people know it: `EventDataset clicks`. */
export function titleOf({ type, name }: { readonly type: string; readonly name: string }): string {
  return `${type.slice(type.lastIndexOf(":") + 1)} ${name}`;
}

/** The noun of a resource of this package; undefined for those of others. */
export function nounOf(type: string): string | undefined {
  return ours.exec(type)?.[1];
}
