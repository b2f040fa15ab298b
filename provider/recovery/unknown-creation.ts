import type { OutcomeUnknownError } from "../../client/errors";
import { shellQuote } from "../../client/shell-quote";
import { withoutFullStop } from "../../contract/messages";

const prefix = "unknown-";

const clearingNotes =
  "If no killed run has created anything, remove all such notes from the state: `pulumi refresh --clear-pending-creates`.";

/** Facts for the user's decision about a lost call. */
interface Known {
  /** Logical name of the resource. */
  readonly name: string;
  /** Objects that the call may have created. */
  readonly candidates: readonly string[];
  /** Stacks with unreadable state, which may reference a candidate. */
  readonly unread?: readonly string[];
  /** Step to try first. */
  readonly fix?: string | undefined;
  /** Time of the first attempt, in milliseconds since 1970. */
  readonly at: number;
  /** Whether the state gets a placeholder for the object. */
  readonly hasPlaceholder: boolean;
  /** Whether only the engine's note of a killed create shows the call. */
  readonly isNotedCreate?: boolean;
  /** Whether the object can also be adopted with the argument `existingId`. */
  readonly hasExistingId: boolean;
}

/**
 * Error if the outcome of a create is unknown. Only the user can decide whether to adopt the object or create it again.
 */
export class UnknownCreationError extends Error {
  override readonly name = "UnknownCreationError";
  /** Placeholder in the state for the unknown id. Undefined if another stack may have sent the call. */
  readonly placeholder: string | undefined;

  constructor(lost: OutcomeUnknownError, identity: string, known: Known) {
    const { name, candidates, unread = [], fix, hasExistingId } = known;
    const found =
      candidates.length > 0
        ? [`It may have created ${candidates.join(" or ")}, but nothing proves that this stack created it.`]
        : [];
    const doubt =
      unread.length > 0 ? [`Cannot read the state of ${unread.join(", ")}, which may use it.`] : [];
    const adopting = (id: string) => `\`RECOMMENDER_ADOPT=${shellQuote(`${name}=${id}`)} pulumi up\``;
    const adoption =
      candidates.length > 0
        ? `adopt it: ${candidates.map(adopting).join(" or ")}`
        : `adopt it with its id in place of ID: ${adopting("ID")}`;
    super(
      [
        `${withoutFullStop(lost.message)}.`,
        ...found,
        ...doubt,
        ...(fix ? [fix] : []),
        `If the object exists, ${adoption}${hasExistingId ? ", or with the argument existingId" : ""}.`,
        `If it does not exist, create it: \`RECOMMENDER_CREATE_AGAIN=${shellQuote(name)} pulumi up\`.`,
        ...(known.isNotedCreate ? [clearingNotes] : []),
      ].join(" "),
      { cause: lost },
    );
    this.placeholder = known.hasPlaceholder
      ? `${prefix}${lost.idempotencyKey}.${identity}.${known.at}`
      : undefined;
  }
}

/**
 * Returns the placeholder to store in the state after an error. Undefined if there is none, or if the state already has
 * it. Otherwise each run that asks the user would replace it with a copy, and a later run would delete all copies.
 */
export function newPlaceholder(error: unknown, stored: string | undefined): string | undefined {
  const placeholder = error instanceof UnknownCreationError ? error.placeholder : undefined;
  return placeholder === stored ? undefined : placeholder;
}

/** Parses a placeholder. Returns undefined for a real id. */
export function lostCallOf(id: unknown): LostCall | undefined {
  const [, key, identity, at] = /^unknown-(.+)\.([^.]+)\.(\d+)$/.exec(typeof id === "string" ? id : "") ?? [];
  if (!key || !identity) return undefined;
  return { key, identity, at: new Date(Number(at)).toISOString() };
}

/** Create without a response. */
export interface LostCall {
  readonly key: string;
  readonly identity: string;
  readonly at: string;
}
