import { definitions } from "../../provider/definitions";
import type { Rules } from "../../provider/lifecycle/definition";
import { logicalName, resourceTypeOf } from "../../provider/run/urn";
import type { StateResource } from "../stack/open";
import type { ResourceRef } from "./finding";

/** Returns the reference to a resource for reports: its URN, type, name and, if known, id. */
export function refOf({ urn, type, id }: { urn: string; type: string; id?: string }): ResourceRef {
  return { urn, type: resourceTypeOf(type) ?? type, name: logicalName(urn), ...(id && { id }) };
}

/** Whether reports include a state entry. Excludes providers, components and entries that wait for deletion. */
export function isReported({ type, custom, external, delete: isDeleting }: StateResource): boolean {
  return custom === true && external !== true && !isDeleting && !type.startsWith("pulumi:");
}

/** Returns the definition of a resource type, or undefined for resources of other packages. */
export function definitionOf(type: string): Rules | undefined {
  return definitions[resourceTypeOf(type) ?? ""];
}
