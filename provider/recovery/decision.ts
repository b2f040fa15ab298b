/**
 * What becomes of a call that creates, whatever interrupted it. Nothing is created twice, and nothing is lost.
 *
 * A call has one of these states, in the recovery journal and, where that is lost, in the state of the stack:
 *
 *     none ──► asked {key, digest of the request, writer} ──► answered {id} ──► none
 *
 * An asked call whose writer has ended, or whose response did not arrive, is lost. Four rules hold:
 *
 * 1. Nothing is sent before it is in the journal as asked; where that cannot be written, the run warns and goes on.
 * 2. An entry is erased only when the state of the stack holds its id or that of a job that followed it, when the
 *    service has refused the call or never got it, when what it created is gone or orphaned with a warning, when the
 *    user has decided, or after 30 days.
 * 3. A lost call is resolved in exactly one way: repeated under its key, or its object found in a list and adopted, or
 *    the user is asked. Another one is created only where the list proves that there is none, or where the user says so.
 * 4. Nothing is deleted in the service while another row of the stack claims it (`run/claims.ts`).
 */

/** What is known of a call that creates, when it is decided how to go on. */
export interface Evidence {
  /** The state of the call. */
  readonly call: "none" | "lost" | "answered";
  /** Whether what the response named is still there, where the call was answered. */
  readonly exists?: boolean;
  /** Whether this run has sent the call: then the client has repeated it already, as far as that is safe. */
  readonly calledNow?: boolean;
  /** Whether the user has said to create it again, with RECOMMENDER_CREATE_AGAIN. */
  readonly createAgain?: boolean;
  /** Whether the service still knows the key of the call, so that repeating it creates nothing new. */
  readonly keyHolds?: boolean;
  /** How many objects in the list may be the one; "unseen" where there is no list or it cannot be read. */
  readonly matches?: number | "unseen";
  /** Whether it is known what was in the list before the call. */
  readonly hasBaseline?: boolean;
  /** Whether the list shows an object as soon as it is created. */
  readonly listIsImmediate?: boolean;
  /** Whether this run has created it once more already because the list had none. */
  readonly isSecondTry?: boolean;
}

/** How to go on: `look` gathers what the list shows, the others end it or send the call. */
export type Decision = "create" | "repeat" | "resume" | "look" | "adopt" | "ask";

/** Decides how to go on with a call that creates. */
export function decide(evidence: Evidence): Decision {
  const { call, exists, calledNow, createAgain, keyHolds, matches } = evidence;
  if (call === "none") return "create";
  if (call === "answered") return exists ? "resume" : "create";
  if (createAgain && !calledNow) return "create";
  if (keyHolds && !calledNow) return "repeat";
  if (matches === undefined) return "look";
  if (matches === 1 && evidence.hasBaseline) return "adopt";
  if (matches === 0 && evidence.listIsImmediate && !evidence.isSecondTry) return "create";
  return "ask";
}
