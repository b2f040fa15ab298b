/** The facts about an entry of the recovery journal that is about the same resource, service and request. */
export interface OwnerEvidence {
  /** Whether it was written by a stack of this name in this backend. Entries of other backends are never looked at. */
  readonly isOfStack: boolean;
  /** Whether the stack that wrote it exists under that name; "unseen" if the stacks cannot be listed. */
  readonly stackExists?: boolean | "unseen";
  /** How the secrets of the two stacks are encrypted: the same way after a rename. */
  readonly lineage?: "same" | "different" | "unknown";
  /** Whether it was written with this account's key; "unproven" if another key was used. */
  readonly account: "same" | "unproven";
}

/** Whose entry it is: this stack's, another stack's, or one of the two. */
export type EntryOwner = "own" | "unproven" | "other";

/**
 * Decides whose an entry is. A stack that was renamed leaves entries under its old name, which no longer exists. Stacks
 * made from copies of one configuration file have the same lineage, so only both facts together prove a rename.
 */
export function ownerOfEntry({ isOfStack, stackExists, lineage, account }: OwnerEvidence): EntryOwner {
  if (!isOfStack && (stackExists === true || lineage === "different")) return "other";
  const isRenamed = stackExists === false && lineage === "same";
  return (isOfStack || isRenamed) && account === "same" ? "own" : "unproven";
}
