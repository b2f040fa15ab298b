/**
 * Decides how to continue a create after an interruption. No object is created twice or lost. An object is adopted only
 * if this stack is proven to have created it, or if the user names it.
 *
 * In the recovery journal, each create is in one of the states below. Without the journal, the stack's state may show a
 * lost create: by a placeholder, or by the engine's note of a create that was killed on another machine
 * (`killed-elsewhere.ts`).
 *
 *     none ──► sent {key, digest of the request, writer} ──► acknowledged {id} ──► none
 *
 * A sent create is lost if its writer has ended or its response did not arrive. These rules apply:
 *
 * 1. A create is recorded as sent before it is sent. If the journal cannot be written, the run warns and continues.
 * 2. An entry is erased when the stack's state contains its id or the id of a later job in its chain, or when the
 *    service has rejected or never received the call. It is also erased when its object is gone or reported as
 *    orphaned, when the user has decided, and after 30 days.
 * 3. A lost create is repeated with its key if the service honours keys, because the response proves which object is
 *    ours. Without that proof the user decides. A list proves nothing: it may be paged or out of date, and somebody
 *    else may have created the new object. It only provides candidates that no stack of the backend references.
 * 4. An entry is proof only if this stack wrote it with this account (`ownership.ts`). Its name alone is no proof. The
 *    engine's note proves nothing either: it does not show whether the call was sent, and with which key. The note is
 *    considered until the resource is created or the user has decided.
 * 5. The reply to a create counts only if its id is new (`held.ts`). Otherwise the create is lost.
 * 6. No object is deleted while another state entry references it, in any readable stack of the backend
 *    (`run/claims.ts`).
 */

/** Facts about a create. */
export interface CreationEvidence {
  readonly call: "none" | "lost" | "acknowledged";
  /** Whether this stack is proven to have sent the call, with this account. */
  readonly isProven?: boolean;
  /** For an acknowledged call: whether the stack's state already contains its id. */
  readonly isStored?: boolean;
  /** For an acknowledged call: whether its object still exists. */
  readonly exists?: boolean;
  /** Whether this run has sent the call. If so, the client has already retried it, provided that this is safe. */
  readonly sentNow?: boolean;
  /** Whether the user has named the object with RECOMMENDER_ADOPT. */
  readonly isNamed?: boolean;
  /** Whether the user has set RECOMMENDER_CREATE_AGAIN for the resource. */
  readonly createAgain?: boolean;
  /** Whether the service still honours the key of the call, so a repeated call creates nothing new. */
  readonly keyHolds?: boolean;
  /** Whether this run has already searched for candidates. */
  readonly hasSearched?: boolean;
}

/** Next step. `search` looks for candidates, `ask` fails with a question to the user. */
export type Decision = "create" | "repeat" | "resume" | "adopt" | "search" | "ask";

/** Returns the next step of a create. */
export function decide(evidence: CreationEvidence): Decision {
  const { call, isProven, isStored, exists, sentNow, isNamed, createAgain, keyHolds, hasSearched } = evidence;
  if (call === "none") return "create";
  const isInDoubt = call === "lost" || !isProven;
  if (isInDoubt && isNamed && !sentNow) return "adopt";
  if (isInDoubt && createAgain && !sentNow) return "create";
  if (!isProven) return hasSearched ? "ask" : "search";
  if (call === "acknowledged") return exists && !isStored ? "resume" : "create";
  if (keyHolds && !sentNow) return "repeat";
  return hasSearched ? "ask" : "search";
}
