import type { Settings } from "../../client/settings";
import { logicalName, nounOf } from "../../provider/run/urn";
import type { StateResource } from "./open";

/** A resource of ours in the state of a stack. */
export interface StackResource {
  /** Its noun. */
  readonly type: string;
  readonly name: string;
  readonly id: string;
  readonly outputs: Readonly<Record<string, unknown>>;
  /** The name of the provider that the program gives it; absent if the stack's configuration applies. */
  readonly provider?: string;
}

/** What a command reads of a stack: its configuration, and what it holds. */
export interface StackView {
  readonly name: string;
  /** The name of the stack's project. */
  readonly project: string;
  /** The folder that relative paths of the program start from. */
  readonly programDirectory: string;
  readonly resources: readonly StackResource[];
  config(key: string): string | undefined;
  /** The settings of a provider that the program gives a resource. */
  settingsOf(resource: StackResource): Settings | undefined;
}

/** Reads a stack without selecting it or changing anything. */
export async function readStack(name: string, cwd = "."): Promise<StackView> {
  const { OpenStack } = await import("./open.js");
  const { explicitProviderOf, providerSettings } = await import("./providers.js");
  const open = await OpenStack.open({ cwd, stack: name });
  const [{ resources }, config] = await Promise.all([open.state(), open.config()]);
  const rows = new Map<StackResource, StateResource>();
  for (const row of resources) {
    const { type, urn, id, outputs = {} } = row;
    const noun = nounOf(type);
    const provider = logicalName(explicitProviderOf(row));
    if (noun && id && !row.delete)
      rows.set({ type: noun, name: logicalName(urn), id, outputs, ...(provider && { provider }) }, row);
  }
  return {
    name,
    project: open.project,
    programDirectory: open.programDirectory,
    config,
    resources: [...rows.keys()],
    settingsOf: (resource) => {
      const row = rows.get(resource);
      return row && providerSettings(row, resources, open);
    },
  };
}
