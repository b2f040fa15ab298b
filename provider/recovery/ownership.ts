import { isEnabled } from "../../client/settings";
import { accountOf } from "../run/account";
import type { Context } from "../run/context";
import { mayBeSameService } from "../run/state-entry";
import { stackIdOf } from "../run/urn";
import { compareLineage, type JournalEntry } from "./journal-entry";
import { lostCallOf } from "./unknown-creation";

/** Facts about a journal entry that has the same resource name, service and request as a create. */
export interface OwnerEvidence {
  /** Whether the stack that wrote it had the name of this stack. Entries of other backends are never read. */
  readonly isOfName: boolean;
  /**
   * Whether the writer has the lineage of this stack. A rename keeps the lineage, and a new stack with an old name has
   * a different one.
   */
  readonly lineage: "same" | "different" | "unknown";
  /**
   * Whether another stack of the backend wrote it, according to the states of all stacks. "unseen" if a state cannot be
   * read.
   */
  readonly isOfOther?: boolean | "unseen";
  /** Whether it was written with the configured API key. "unproven" with a different key. */
  readonly account: "same" | "unproven";
}

/** Which stack an entry belongs to. `unproven` if the facts are not enough to tell. */
export type EntryOwner = "own" | "unproven" | "other";

/**
 * Decides which stack an entry belongs to. A renamed stack leaves entries under its old name, which a new stack may
 * have now, so the name proves nothing. The lineage alone is not enough either: a copied state has the lineage of the
 * original, which has kept its name.
 */
export function ownerOfEntry({ isOfName, lineage, isOfOther, account }: OwnerEvidence): EntryOwner {
  if (isOfOther === true || (lineage === "different" && !isOfName)) return "other";
  const isOwn = lineage === "same" && (isOfName || isOfOther === false);
  return isOwn && account === "same" ? "own" : "unproven";
}

/** Collects the facts about a journal entry, and decides which stack it belongs to. */
export async function ownerOf(entry: JournalEntry, context: Context): Promise<EntryOwner> {
  const { urn = "" } = context;
  const isOfName = stackIdOf(entry.urn) === stackIdOf(urn);
  const lineage = await lineageOf(entry, context);
  const known: OwnerEvidence = { isOfName, lineage, account: accountIn(entry, context) };
  // The states of all stacks are read only if they can change the decision.
  const isDecided = ownerOfEntry(known) !== "unproven" || (isOfName && lineage === "same");
  return isDecided
    ? ownerOfEntry(known)
    : ownerOfEntry({ ...known, isOfOther: await isOfOtherStack(entry, lineage, context) });
}

/**
 * Compares the stack that wrote an entry with this stack. Entries that match the state of this stack are its own even
 * without a lineage.
 */
export async function lineageOf(
  entry: JournalEntry,
  { urn = "", run }: Context,
): Promise<OwnerEvidence["lineage"]> {
  const isOfPlaceholder = lostCallOf(run.placeholders.get(urn))?.key === entry.key;
  // A derived key contains the id of a job in this stack's state.
  if (entry.derived || isOfPlaceholder) return "same";
  return compareLineage(entry, await run.initial.lineage({ urn }));
}

async function isOfOtherStack(
  entry: JournalEntry,
  lineage: OwnerEvidence["lineage"],
  { urn = "", run, settings }: Context,
): Promise<boolean | "unseen"> {
  const [own, writer] = [stackIdOf(urn), stackIdOf(entry.urn)];
  if (lineage === "unknown" && writer !== own) {
    const stacks = await run.stackState.stacks(own.split("/", 1)[0] as string);
    if (stacks?.has(writer)) return true;
  }
  const { entries, lineages, unread } = await run.stackState.allStacks();
  const hasLineage = ([stack, each]: readonly [string, string]) =>
    stack !== own && each === entry.lineage && (lineage !== "same" || stack === writer);
  const holdsObject = entries.some(
    ({ urn, id, service }) =>
      stackIdOf(urn) !== own &&
      (id === entry.id || lostCallOf(id)?.key === entry.key) &&
      mayBeSameService({ service }, { service: settings.baseUrl }),
  );
  if (holdsObject || [...lineages].some(hasLineage)) return true;
  return unread.length > 0 ? "unseen" : false;
}

/**
 * Whether an entry belongs to the configured account: it has the same API key, or the user has confirmed the account.
 */
function accountIn({ account }: JournalEntry, { settings }: Context): "same" | "unproven" {
  const isSame = account === undefined || account === accountOf(settings);
  return isSame || isEnabled(process.env.RECOMMENDER_SERVICE_MOVED) ? "same" : "unproven";
}
