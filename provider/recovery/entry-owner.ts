/** Facts about a journal entry with the same resource name, service and request. */
export interface OwnerEvidence {
  /** Whether a stack of this name in this backend wrote it. Entries of other backends are never read. */
  readonly isOfStack: boolean;
  /** Whether the stack that wrote it still has that name. "unseen" if the stacks cannot be listed. */
  readonly stackExists?: boolean | "unseen";
  /** Whether both stacks have the same encryption key. A rename keeps it. */
  readonly lineage?: "same" | "different" | "unknown";
  /** Whether it was written with the configured API key. "unproven" with a different key. */
  readonly account: "same" | "unproven";
}

/** Which stack an entry belongs to. `unproven` if the facts are not enough to tell. */
export type EntryOwner = "own" | "unproven" | "other";

/**
 * Decides which stack an entry belongs to. A renamed stack leaves entries under its old name, which no longer exists. Stacks
 * with copies of one configuration file have the same encryption key, so a rename is proven only if both facts match.
 */
export function ownerOfEntry({ isOfStack, stackExists, lineage, account }: OwnerEvidence): EntryOwner {
  if (!isOfStack && (stackExists === true || lineage === "different")) return "other";
  const isRenamed = stackExists === false && lineage === "same";
  return (isOfStack || isRenamed) && account === "same" ? "own" : "unproven";
}
