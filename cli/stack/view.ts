import type { Settings } from "../../client/settings";
import { logicalName, nounOf } from "../../provider/run/urn";
import type { StateResource } from "./open";

/** A resource of this package in the state of a stack. */
export interface StackResource {
  /** Resource type without prefix, such as `Model`. */
  readonly type: string;
  readonly name: string;
  readonly id: string;
  readonly outputs: Readonly<Record<string, unknown>>;
  /** Name of the explicit provider. Absent if the stack's configuration applies. */
  readonly provider?: string;
}

/** Configuration and resources of a stack. */
export interface StackView {
  readonly name: string;
  readonly project: string;
  /** The directory that relative paths in the program start from. */
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
  const entries = new Map<StackResource, StateResource>();
  for (const entry of resources) {
    const { type, urn, id, outputs = {} } = entry;
    const resourceType = nounOf(type);
    const provider = logicalName(explicitProviderOf(entry));
    if (resourceType && id && !entry.delete)
      entries.set(
        { type: resourceType, name: logicalName(urn), id, outputs, ...(provider && { provider }) },
        entry,
      );
  }
  return {
    name,
    project: open.project,
    programDirectory: open.programDirectory,
    config,
    resources: [...entries.keys()],
    settingsOf: (resource) => {
      const entry = entries.get(resource);
      return entry && providerSettings(entry, resources, open);
    },
  };
}
