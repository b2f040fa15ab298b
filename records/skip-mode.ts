/** Upload in the journal of this machine. */
export interface JournaledUpload {
  /** Unique token of the upload. */
  readonly token: string;
  /** Token of the upload that the dataset contained when this one began, if known. */
  readonly basis?: string | undefined;
  readonly contentHash: string;
  /** Set if the header is unreadable: an earlier version wrote the journal, or it is damaged. */
  readonly isUnknown?: true;
}

/** Killed upload, according to the pending operations in the stack's state. */
export interface KilledUpload {
  /** Hash of its content. Empty if it is secret and cannot be read. */
  readonly contentHash: string;
  /**
   * Whether it was the first upload of a resource. The engine keeps its note of such an upload, so later uploads may
   * have followed.
   */
  readonly isFirst: boolean;
}

/** Earlier uploads of a source to a dataset, as far as they are known when an upload begins. */
export interface UploadHistory {
  /** Hash of the content to upload. */
  readonly contentHash: string;
  /**
   * Token of the last recorded upload: from the stack's state for a resource, from this machine for an import. That
   * upload may be incomplete.
   */
  readonly recorded?: string | undefined;
  /**
   * Uploads on any machine that began after the recorded one and have no recorded end. `unknown` if they cannot be
   * determined.
   */
  readonly unrecorded?: readonly KilledUpload[] | "unknown" | undefined;
  /** Last complete upload on this machine. */
  readonly finished?: JournaledUpload | undefined;
  /** Upload that this machine began after `finished` and did not complete. */
  readonly open?: JournaledUpload | undefined;
  /** Token of the last upload or deletion on this machine that changed the dataset, from any source. */
  readonly writer?: string | undefined;
}

/**
 * Which batches an upload can skip:
 * - `nothing`: the content of the dataset is unknown, so every batch is sent.
 * - `finished`: the dataset contains the finished upload, so unchanged batches are skipped.
 * - `open`: the dataset contains what the open upload has sent, so acknowledged batches are skipped.
 * - `same content`: the last writer was an update with the same content, on this or another machine. Batches that this
 *   machine has sent are skipped, unless they share an id with an earlier batch: if the other upload was killed
 *   between the two batches, it has overwritten the later record.
 */
export type SkipMode = "nothing" | "finished" | "open" | "same content";

/** Decides which batches an upload can skip. */
export function skipModeOf(history: UploadHistory): SkipMode {
  const { contentHash, recorded, unrecorded = [], finished, open, writer } = history;
  const last = open ?? finished;
  if (unrecorded === "unknown") return "nothing";
  // Another source has written to the dataset and may have replaced records of unchanged batches.
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

/** Whether the dataset may differ from the recorded upload. */
export function isInDoubt({
  recorded,
  unrecorded = [],
  finished,
  open,
}: Omit<UploadHistory, "contentHash">): boolean {
  const last = open ?? finished;
  if (unrecorded === "unknown" || unrecorded.length > 0) return true;
  if (!last || last.isUnknown) return last !== undefined;
  // True if this machine has not completed the recorded upload, or has begun a later upload that was not recorded.
  return last.token === recorded ? last === open : last.basis === recorded;
}
