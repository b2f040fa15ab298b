import { engineAddress, log } from "./engine";
import { journalId } from "./journal-id";
import { digestOfNote } from "./killed-step";
import { PendingNotes, without } from "./pending-notes";
import { isOfResource, isUpload, type PendingOperation, withoutStack } from "./pending-operation";
import { remember, type StoredNotes, settledIn, supersededIn } from "./settled-creates";
import {
  type Cli,
  type ExportedState,
  exportState,
  lineageIn,
  pulumiCli,
  StackStateError,
  waysTo,
} from "./stack-state";
import { isSameEntry, type StateEntry, stateEntryOf } from "./state-entry";
import { partsOf, resourceTypeOf } from "./urn";

export type { PendingOperation } from "./pending-operation";

/** Returns the content hash of a killed upload. Empty if it is secret, because the state then contains it encrypted. */
export function contentHashOf({ inputs }: Pick<PendingOperation, "inputs">): string {
  return typeof inputs.contentHash === "string" ? inputs.contentHash : "";
}

/** Facts from the state of this stack at the start of a run. */
export interface InitialFacts extends StoredNotes {
  /** Operations that were running when the engine of the last run was killed, on any machine. */
  readonly pending: readonly PendingOperation[];
  /** Identity of the stack, which survives a rename (see `lineageIn`). Undefined if the state has none. */
  readonly lineage?: string | undefined;
}

/**
 * Resource by which the state of this stack is recognised. If it has an id, it comes from the state, so its URN may
 * contain a former name of the stack. A different stack may have that name now.
 */
export type Anchor = Pick<StateEntry, "urn"> & Partial<StateEntry>;

/**
 * State of this stack at the start of a run. The engine notes each operation in the state before it calls the provider,
 * and drops the notes of updates with the first write of the next run. So the state is read once, early. Killed uploads
 * are noted on this machine too, because this run may fail before it reaches their resource.
 */
export class InitialState {
  #found: Promise<InitialFacts | undefined> | undefined;

  constructor(private readonly read: (anchor: Anchor) => Promise<InitialFacts> = readInitialFacts) {}

  /** Reads the state, once per run. Returns undefined if it cannot be read. */
  load(anchor: Anchor): Promise<InitialFacts | undefined> {
    this.#found ??= this.#read(anchor);
    return this.#found;
  }

  /**
   * Returns the pending operations of a resource, including those that an earlier run has noted on this machine.
   * Undefined if the state cannot be read.
   */
  async pendingOf(urn = ""): Promise<PendingOperation[] | undefined> {
    const found = await this.load({ urn });
    if (!found) return undefined;
    const pending = operationsOf(urn, found);
    const updates = pending.filter(({ isCreate }) => !isCreate).map(contentHashOf);
    const noted = without(notesOf(urn, found).hashes, updates);
    return [
      ...pending,
      ...noted.map((contentHash) => ({ urn, inputs: { contentHash }, isCreate: false as const })),
    ];
  }

  /** Deletes this machine's notes about killed uploads of a resource. */
  async forgetPending(urn = ""): Promise<void> {
    const found = await this.load({ urn });
    if (found) notesOf(urn, found).delete();
  }

  /**
   * Returns the killed creates or updates of a resource that the journal of this machine cannot explain, without those
   * that a later run has settled. Empty if the state cannot be read.
   */
  async killedElsewhere(urn: string, isCreate: boolean): Promise<PendingOperation[]> {
    const found = await this.load({ urn });
    const started = operationsOf(urn, found).filter(
      ({ inputs, ...operation }) => operation.isCreate === isCreate && inputs.existingId === undefined,
    );
    if (started.length === 0) return [];
    const own = journalId();
    const killed = started.filter(({ inputs }) => own === undefined || inputs.__journal !== own);
    const settled = isCreate && found ? settledIn(urn, found) : [];
    const open = without(
      killed.map(({ digest = "" }) => digest),
      settled,
    );
    return killed.filter(({ digest = "" }) => open.includes(digest));
  }

  /**
   * Records that the killed creates of a resource are settled, because this run has created it or the user has decided.
   * Returns their digests, to store them in the state.
   */
  async settleCreates(urn = ""): Promise<string[]> {
    const found = await this.load({ urn });
    const digests = createsOf(urn, found).map(({ digest = "" }) => digest);
    remember(urn, digests);
    return digests;
  }

  async #read(anchor: Anchor): Promise<InitialFacts | undefined> {
    const found = await this.read(anchor).catch(() => undefined);
    for (const [urn, digests] of found?.superseded ?? []) remember(urn, digests);
    try {
      for (const urn of uploadsIn(found)) {
        const updates = operationsOf(urn, found).filter(({ isCreate }) => !isCreate);
        notesOf(urn, found).add(updates.map(contentHashOf));
      }
    } catch (error) {
      await log.warn(
        anchor.urn,
        `Cannot record that an earlier run was killed during an upload (${(error as Error).message}). If this run fails too, the next run will not know about that upload. ` +
          "Set XDG_STATE_HOME to a writable directory.",
      );
    }
    return found;
  }

  /** Returns the identity of the stack, or undefined if it is unknown. */
  async lineage(anchor: Anchor): Promise<string | undefined> {
    return (await this.load(anchor))?.lineage;
  }
}

/**
 * Returns the pending operations of a resource. The name of the stack is ignored, because URNs in the state keep the
 * old name of a renamed stack until an update.
 */
function operationsOf(urn: string, found: InitialFacts | undefined): PendingOperation[] {
  return found?.pending.filter((operation) => isOfResource(operation.urn, urn)) ?? [];
}

/** Returns the killed creates of a resource. */
function createsOf(urn: string, found: InitialFacts | undefined): PendingOperation[] {
  return operationsOf(urn, found).filter(({ isCreate }) => isCreate);
}

/** Returns the URNs of the records resources with a killed update. */
function uploadsIn(found: InitialFacts | undefined): Set<string> {
  const updates = found?.pending.filter(({ isCreate }) => !isCreate) ?? [];
  const urns = updates.map(({ urn }) => urn);
  return new Set(urns.filter(isUpload));
}

function notesOf(urn: string, found: InitialFacts | undefined): PendingNotes {
  return new PendingNotes({ stack: found?.lineage ?? partsOf(urn).stack, resource: withoutStack(urn) });
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
    if (state && isStateOf(anchor, state)) {
      const pending = pendingIn(state);
      return { pending, lineage: lineageIn(state), superseded: supersededIn(state, pending) };
    }
    // A resource that is not in the state has the current name of the stack, so other stacks need no search.
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
  return pending_operations.flatMap(({ type, resource }): PendingOperation[] => {
    const { urn, inputs = {}, provider } = resource;
    if (type === "updating") return [{ urn, inputs, isCreate: false }];
    return type === "creating"
      ? [{ urn, inputs, isCreate: true, digest: digestOfNote(inputs, provider) }]
      : [];
  });
}
