import { engineAddress } from "./engine";
import {
  type Cli,
  type ExportedState,
  exportState,
  lineageIn,
  pulumiCli,
  StackStateError,
  waysTo,
} from "./stack-state";
import { isSameEntry, type Properties, type StateEntry, stateEntryOf } from "./state-entry";
import { canonicalUrn, partsOf, resourceTypeOf } from "./urn";

/** Create or update that the engine started in an earlier run and never finished. */
export interface PendingOperation {
  readonly urn: string;
  /** Arguments of the resource in that run. */
  readonly inputs: Properties;
  /** Whether the operation is a create. The engine keeps its note of a create until a refresh clears it. */
  readonly isCreate: boolean;
}

/** Facts from the state of this stack at the start of a run. */
export interface InitialFacts {
  /** Operations that were running when the engine of the last run was killed, on any machine. */
  readonly pending: readonly PendingOperation[];
  /** Identity of the stack, which survives a rename (see `lineageIn`). Undefined if the state has none. */
  readonly lineage?: string | undefined;
}

/**
 * Resource of this stack, by which its state is recognised. A resource with an id comes from the state, so its URN may
 * have a former name of the stack, which may be the name of a different stack now.
 */
export type Anchor = Pick<StateEntry, "urn"> & Partial<StateEntry>;

/**
 * State of this stack at the start of a run. The engine notes each operation in the state before it calls the provider,
 * and drops the notes of updates with the first write of the next run. So the state is read once, early.
 */
export class InitialState {
  #found: Promise<InitialFacts | undefined> | undefined;

  constructor(private readonly read: (anchor: Anchor) => Promise<InitialFacts> = readInitialFacts) {}

  /** Reads the state, once per run. Returns undefined if it cannot be read. */
  load(anchor: Anchor): Promise<InitialFacts | undefined> {
    this.#found ??= this.read(anchor).catch(() => undefined);
    return this.#found;
  }

  /** Returns the pending operations of a resource, or undefined if the state cannot be read. */
  async pendingOf(urn = ""): Promise<PendingOperation[] | undefined> {
    const found = await this.load({ urn });
    // The URN in the state keeps the old name of a renamed stack until the next update.
    return found?.pending.filter((operation) => withoutStack(operation.urn) === withoutStack(urn));
  }

  /** Returns the identity of the stack, or undefined if it is unknown. */
  async lineage(anchor: Anchor): Promise<string | undefined> {
    return (await this.load(anchor))?.lineage;
  }
}

function withoutStack(urn: string): string {
  const { project, type, name } = partsOf(canonicalUrn(urn));
  return [project, type, name].join("::");
}

const timeoutMs = 30_000;

/** Reads the facts with the Pulumi CLI. Throws if the CLI does not show the stack of the resource. */
export async function readInitialFacts(
  anchor: Anchor,
  cli: Cli = pulumiCli({ timeoutMs }),
): Promise<InitialFacts> {
  const { stack, project } = partsOf(anchor.urn);
  // Without an engine, as in tests, there is no state to read, and the name identifies the stack.
  if (engineAddress() === undefined) return { pending: [], lineage: stack };
  for await (const way of waysTo(stack, cli)) {
    const state = await exportState(way, cli).catch(() => undefined);
    if (state && isStateOf(anchor, state)) return { pending: pendingIn(state), lineage: lineageIn(state) };
    // A resource that is not in the state has the current name of the stack.
    if (anchor.id === undefined && way.length === 0) break;
  }
  throw new StackStateError(`\`pulumi stack export\` does not show stack ${stack} of project ${project}`);
}

function isStateOf(anchor: Anchor, { resources = [], pending_operations = [] }: ExportedState): boolean {
  const { type = "", id } = anchor;
  if (id !== undefined) {
    return resources.some(
      (stored) =>
        stored.id === id &&
        resourceTypeOf(stored.type) === type &&
        isSameEntry(stateEntryOf(type, id, stored.outputs ?? {}), { made: undefined, ...anchor, type, id }),
    );
  }
  const { stack, project } = partsOf(anchor.urn);
  const isEmpty = resources.length + pending_operations.length === 0;
  return (
    isEmpty || resources.some(({ urn }) => partsOf(urn).stack === stack && partsOf(urn).project === project)
  );
}

function pendingIn({ pending_operations = [] }: ExportedState): PendingOperation[] {
  return pending_operations.flatMap(({ type, resource }) =>
    type === "creating" || type === "updating"
      ? [{ urn: resource.urn, inputs: resource.inputs ?? {}, isCreate: type === "creating" }]
      : [],
  );
}
