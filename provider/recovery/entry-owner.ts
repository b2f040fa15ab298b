/** Facts about a journal entry with the same resource name, service and request. */
export interface OwnerEvidence {
  /** Whether the stack that wrote it had the name of this stack. Entries of other backends are never read. */
  readonly isOfName: boolean;
  /** Whether this stack wrote it, by lineage: a rename keeps it, and a new stack with an old name has another one. */
  readonly lineage: "same" | "different" | "unknown";
  /** Whether another stack of the backend wrote it, by the states of all stacks. "unseen" if a state cannot be read. */
  readonly isOfOther?: boolean | "unseen";
  /** Whether it was written with the configured API key. "unproven" with a different key. */
  readonly account: "same" | "unproven";
}

/** Which stack an entry belongs to. `unproven` if the facts are not enough to tell. */
export type EntryOwner = "own" | "unproven" | "other";

/**
 * Decides which stack an entry belongs to. A renamed stack leaves entries under its old name, which a new stack may have
 * now, so the name proves nothing. A copy of a state has the lineage of its original, which has kept the name.
 */
export function ownerOfEntry({ isOfName, lineage, isOfOther, account }: OwnerEvidence): EntryOwner {
  if (isOfOther === true || (lineage === "different" && !isOfName)) return "other";
  const isOwn = lineage === "same" && (isOfName || isOfOther === false);
  return isOwn && account === "same" ? "own" : "unproven";
}
