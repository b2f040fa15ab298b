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
 * Returns, for each resource, the digests of its killed creates that its entry in the state lists as settled. Creates of
 * earlier versions have no journal id and are not listed. They count as settled if the resource has an entry.
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

/**
 * Returns the digests of a resource's killed creates that are settled, according to the state or this machine's notes.
 */
export function settledIn(urn: string, { superseded: all }: StoredNotes): string[] {
  const superseded = [...(all ?? [])].find(([other]) => isOfResource(other, urn))?.[1] ?? [];
  return [...superseded, ...without(settledNotes(urn).hashes, superseded)];
}

/**
 * Notes on this machine that killed creates are settled. If that fails, another create of the resource may ask the user
 * about them again.
 */
export function remember(urn: string, digests: readonly string[]): void {
  try {
    settledNotes(urn).add(digests);
  } catch (error) {
    void log.debug(urn, `cannot note that a killed create is settled: ${(error as Error).message}`);
  }
}

/** Returns the notes about settled creates. They need no stack, because the digests identify it. */
function settledNotes(urn: string): PendingNotes {
  return new PendingNotes({ stack: "", resource: withoutStack(urn) }, "settled");
}
