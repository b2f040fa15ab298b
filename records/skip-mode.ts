/** An upload as a journal on this machine remembers it. */
export interface Remembered {
  /** Names the upload; no two uploads have the same token. */
  readonly token: string;
  /** The upload that the dataset held when this one began; absent if none was known. */
  readonly basis?: string | undefined;
  readonly contentHash: string;
  /** Set if only the beginning of the upload is known: an earlier version wrote the journal, or it is damaged. */
  readonly isUnknown?: true;
}

/** An upload that was killed, as the engine has noted it in the state. */
export interface Unrecorded {
  /** Its content; empty if the content is secret and cannot be read. */
  readonly contentHash: string;
  /** Set if it was the first upload of a resource. Other uploads may have followed it: the engine keeps the note. */
  readonly isFirst: boolean;
}

/** What is known of a source's records in the dataset when an upload begins. */
export interface Evidence {
  /** The content that is to be uploaded. */
  readonly contentHash: string;
  /**
   * The last upload on record: in the stack's state for a resource, in this machine's notes for an import. It need not
   * have been complete.
   */
  readonly recorded?: string | undefined;
  /** Uploads that began after the recorded one and have no end on record, on whatever machine, if that can be known. */
  readonly unrecorded?: readonly Unrecorded[] | "unknown" | undefined;
  /** The last upload of this machine that was complete. */
  readonly finished?: Remembered | undefined;
  /** The upload that this machine began after that one and did not complete. */
  readonly open?: Remembered | undefined;
  /** The last upload or deletion of this machine that changed the dataset, from whatever source. */
  readonly writer?: string | undefined;
}

/**
 * What need not be sent:
 * - `nothing`: the dataset may hold anything, so every batch is sent.
 * - `finished`: the dataset holds the finished upload, so batches that have not changed are skipped.
 * - `open`: the dataset holds what the open upload has sent so far, so acknowledged batches are skipped.
 * - `same content`: the last one to write was an update with this very content, here or elsewhere. Batches that this
 *   machine has sent are skipped, unless they share an id with an earlier batch: the other upload may have ended between
 *   the two.
 */
export type Trust = "nothing" | "finished" | "open" | "same content";

/** Decides which batches an upload may skip. */
export function trustIn(evidence: Evidence): Trust {
  const { contentHash, recorded, unrecorded = [], finished, open, writer } = evidence;
  const last = open ?? finished;
  if (unrecorded === "unknown") return "nothing";
  // Another source has written to the dataset since: it may have replaced records of batches that have not changed.
  if (writer !== undefined && writer !== recorded && writer !== last?.token) return "nothing";
  if (unrecorded.length > 0) {
    const isSame =
      unrecorded.every((killed) => killed.contentHash === contentHash && !killed.isFirst) &&
      last?.contentHash === contentHash;
    return isSame && last.basis === recorded ? "same content" : "nothing";
  }
  if (recorded === undefined) return "nothing";
  if (open) return open.token === recorded && open.contentHash === contentHash ? "open" : "nothing";
  return finished?.token === recorded ? "finished" : "nothing";
}

/** Whether the dataset may hold something other than the recorded upload. */
export function isUnsettled({
  recorded,
  unrecorded = [],
  finished,
  open,
}: Omit<Evidence, "contentHash">): boolean {
  const last = open ?? finished;
  if (unrecorded === "unknown" || unrecorded.length > 0) return true;
  if (!last || last.isUnknown) return last !== undefined;
  // An upload of this machine that began from the recorded one and was never recorded itself.
  return last.token === recorded ? last === open : last.basis === recorded;
}
