import type { Settings } from "../../client/settings";
import { logicalName, resourceTypeOf } from "../../provider/run/urn";
import type { StateResource } from "./open";

/** A resource of this package in the state of a stack. */
export interface StackResource {
  /** Resource type without prefix, such as `Model`. */
  readonly type: string;
  readonly name: string;
  readonly id: string;
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly entry: StateResource;
  /** Name of the explicit provider. Absent if the stack's configuration applies. */
  readonly provider?: string;
}

/** Configuration and resources of a stack. */
export interface StackView {
  readonly name: string;
  readonly project: string;
  /** The program's working directory, which its relative paths start from. */
  readonly programDirectory: string;
  readonly resources: readonly StackResource[];
  config(key: string): string | undefined;
  /** Returns the settings of the resource's explicit provider, if it has one. */
  settingsOf(resource: StackResource): Settings | undefined;
}

/** Reads a stack without selecting it. */
export async function readStack(name: string, cwd = "."): Promise<StackView> {
  const { OpenStack } = await import("./open.js");
  const { explicitProviderOf, providerSettings } = await import("./providers.js");
  const open = await OpenStack.open({ cwd, stack: name });
  const [{ resources }, config] = await Promise.all([open.state(), open.config()]);
  return {
    name,
    project: open.project,
    programDirectory: open.programDirectory,
    config,
    resources: resources.flatMap((entry) => stackResource(entry, explicitProviderOf(entry)) ?? []),
    settingsOf: ({ entry }) => providerSettings(entry, resources, open),
  };
}

/**
 * Converts a state entry. Returns undefined for resources of other packages, and for entries that wait for deletion.
 */
function stackResource(entry: StateResource, providerUrn: string | undefined): StackResource | undefined {
  const { urn, id, outputs = {} } = entry;
  const type = resourceTypeOf(entry.type);
  if (!type || !id || entry.delete) return undefined;
  const provider = logicalName(providerUrn);
  return { type, name: logicalName(urn), id, outputs, entry, ...(provider && { provider }) };
}
