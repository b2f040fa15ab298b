import type { OutcomeUnknownError } from "../../client/errors";

const prefix = "unknown-";

/** What is known beside the loss. */
interface Known {
  /** Objects that the call may have created. */
  readonly candidates: readonly string[];
  /** What may help before anything else; absent where nothing does. */
  readonly fix?: string | undefined;
  /** When the call was first sent, in milliseconds since 1970. */
  readonly at: number;
}

/** It is unknown whether something was created; the next run must not create a second one unasked. */
export class UnknownCreationError extends Error {
  override readonly name = "UnknownCreationError";
  /** Stands in the state for the id that is not known. */
  readonly placeholder: string;

  constructor(lost: OutcomeUnknownError, identity: string, known: Known) {
    const several = known.candidates.length > 0 ? ` Possible matches: ${known.candidates.join(", ")}.` : "";
    const first = known.fix ? ` ${known.fix}` : "";
    super(
      `${lost.message}.${several}${first} If it exists, adopt it with the argument existingId. ` +
        "If it does not, create it with RECOMMENDER_CREATE_AGAIN=1 pulumi up. Remove the option protect for that run: " +
        "the placeholder in the state is replaced.",
      { cause: lost },
    );
    this.placeholder = `${prefix}${lost.idempotencyKey}.${identity}.${known.at}`;
  }
}

/** The lost call that a placeholder stands for; undefined for a real id. */
export function lostCallOf(id: unknown): LostCall | undefined {
  const [, key, identity, at] = /^unknown-(.+)\.([^.]+)\.(\d+)$/.exec(typeof id === "string" ? id : "") ?? [];
  if (!key || !identity) return undefined;
  return { key, identity, at: new Date(Number(at)).toISOString() };
}

/** A call that got no response. */
interface LostCall {
  readonly key: string;
  readonly identity: string;
  readonly at: string;
}
