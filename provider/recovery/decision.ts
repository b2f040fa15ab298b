/**
 * Decides what happens to a call that creates an object after it was interrupted. Nothing is created twice, nothing is
 * lost, and nothing is adopted unless we are proven to have created it.
 *
 * A call is in one of these states, in the recovery journal or, if the journal is lost, in the state of the stack:
 *
 *     none ──► asked {key, digest of the request, writer} ──► answered {id} ──► none
 *
 * An asked call whose writer has ended, or whose response did not arrive, is lost. Five rules hold:
 *
 * 1. Nothing is sent before the journal has it as asked. If the journal cannot be written, the run warns and goes on.
 * 2. An entry is erased only when the state of the stack holds its id or the id of a job that followed it, when the
 *    service has refused the call or never got it, when its object is gone or was reported as orphaned, when the user
 *    has decided, or after 30 days.
 * 3. A lost call is repeated under its key if the service honours keys: its reply proves which object is ours. Without
 *    that proof the user decides. A list proves nothing: it may be paged or late, and anyone may have created what is
 *    new in it. The list only names candidates, without those that a stack of the backend holds.
 * 4. An entry counts as proof only if it is proven to be of this stack and of this account (`entry-owner.ts`).
 * 5. Nothing is deleted in the service while another row of the stack claims it (`run/claims.ts`).
 */

/** The facts about a call that creates, when the provider decides how to go on. */
export interface CreationEvidence {
  /** The state of the call. */
  readonly call: "none" | "lost" | "acknowledged";
  /** Whether the entry is proven to be of this stack and this account. */
  readonly isProven?: boolean;
  /** For an answered call: whether the state of the stack holds its id already. */
  readonly isStored?: boolean;
  /** For an answered call: whether its object still exists. */
  readonly exists?: boolean;
  /** Whether this run has sent the call. The client has then repeated it as far as that is safe. */
  readonly sentNow?: boolean;
  /** Whether the user has named what it created, with RECOMMENDER_ADOPT. */
  readonly isNamed?: boolean;
  /** Whether the user has set RECOMMENDER_CREATE_AGAIN for it. */
  readonly createAgain?: boolean;
  /** Whether the service honours the key of the call, so a repeated call creates nothing new. */
  readonly keyHolds?: boolean;
  /** Whether the candidates for the question to the user have been gathered. */
  readonly hasCandidates?: boolean;
}

/** The next step: `look` gathers the candidates, the other steps send the call or end it. */
export type Decision = "create" | "repeat" | "resume" | "adopt" | "search" | "ask";

/** Decides how to go on with a call that creates. */
export function decide(evidence: CreationEvidence): Decision {
  const { call, isProven, isStored, exists, sentNow, isNamed, createAgain, keyHolds, hasCandidates } =
    evidence;
  if (call === "none") return "create";
  const isInDoubt = call === "lost" || !isProven;
  if (isInDoubt && isNamed && !sentNow) return "adopt";
  if (isInDoubt && createAgain && !sentNow) return "create";
  if (!isProven) return hasCandidates ? "ask" : "search";
  if (call === "acknowledged") return exists && !isStored ? "resume" : "create";
  if (keyHolds && !sentNow) return "repeat";
  return hasCandidates ? "ask" : "search";
}
