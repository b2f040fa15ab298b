import type { Properties } from "./state-entry";
import { canonicalUrn, partsOf, resourceTypeOf } from "./urn";

/** Create or update that the engine started in an earlier run and never finished. */
export interface PendingOperation {
  readonly urn: string;
  /** Arguments of the resource in that run. */
  readonly inputs: Properties;
  /** Whether the operation is a create. The engine keeps its note of a create until a refresh clears it. */
  readonly isCreate: boolean;
  /** Digest of a create, which is the same in every run. */
  readonly digest?: string;
}

/** Whether a resource uploads records. */
export function isUpload(urn: string): boolean {
  return resourceTypeOf(partsOf(urn).type)?.endsWith("Records") === true;
}

/** Whether two URNs belong to the same resource, regardless of the stack's name and the binding. */
export function isOfResource(one: string, other: string): boolean {
  return withoutStack(one) === withoutStack(other);
}

/** Returns a URN without its stack. The result is the same for both bindings. */
export function withoutStack(urn: string): string {
  const { project, type, name } = partsOf(canonicalUrn(urn));
  return [project, type, name].join("::");
}
