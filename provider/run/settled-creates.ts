import { log } from "./engine";
import { PendingNotes, without } from "./pending-notes";
import { isOfResource, isUpload, type PendingOperation, withoutStack } from "./pending-operation";
import type { ExportedState } from "./stack-state";

/** Killed creates that the state of a stack shows as settled. */
export interface StoredNotes {
  /** Digests of the settled creates, for each resource that has both a note and an entry in the state. */
  readonly superseded?: ReadonlyMap<string, readonly string[]>;
}

/**
 * Returns the killed creates that the entries of their resources show as settled. Earlier versions did not store that, and
 * their creates have no journal id: an entry in the state settles them.
 */
export function supersededIn(
  { resources = [] }: ExportedState,
  pending: readonly PendingOperation[],
): Map<string, readonly string[]> {
  const creates = pending.filter(({ urn, isCreate }) => isCreate && !isUpload(urn));
  const stored = resources.filter((entry) => entry.id !== undefined && !entry.delete);
  const superseded = new Map<string, readonly string[]>();
  for (const { urn } of creates) {
    const entries = stored.filter((entry) => isOfResource(entry.urn, urn));
    if (entries.length === 0) continue;
    const ofEarlierVersions = creates.filter(
      (create) => isOfResource(create.urn, urn) && create.inputs.__journal === undefined,
    );
    const digests = entries.flatMap(({ outputs }) => outputs?.__superseded ?? []);
    superseded.set(urn, [
      ...digests,
      ...without(
        ofEarlierVersions.map(({ digest = "" }) => digest),
        digests,
      ),
    ]);
  }
  return superseded;
}

/** Returns the digests of the killed creates of a resource that are settled, by the state or by this machine's notes. */
export function settledIn(urn: string, { superseded: all }: StoredNotes): string[] {
  const superseded = [...(all ?? [])].find(([other]) => isOfResource(other, urn))?.[1] ?? [];
  return [...superseded, ...without(settledNotes(urn).hashes, superseded)];
}

/** Notes that killed creates are settled. If that fails, another create of the resource may ask about them again. */
export function remember(urn: string, digests: readonly string[]): void {
  try {
    settledNotes(urn).add(digests);
  } catch (error) {
    void log.debug(urn, `cannot note that a killed create is settled: ${(error as Error).message}`);
  }
}

/** Returns the notes about settled creates. Their digests identify the stack. */
function settledNotes(urn: string): PendingNotes {
  return new PendingNotes({ stack: "", resource: withoutStack(urn) }, "settled");
}
