import type { OutcomeUnknownError } from "./errors";

const prefix = "unknown-";

/** It is not known whether something was made; the next run must not make a second one unasked. */
export class UnknownCreationError extends Error {
  override readonly name = "UnknownCreationError";
  /** Stands in the state for the id that is not known. */
  readonly placeholder: string;

  constructor(lost: OutcomeUnknownError, candidates: readonly string[], identity: string) {
    const several = candidates.length > 0 ? ` May have come of it: ${candidates.join(", ")}.` : "";
    super(
      `${lost.message}.${several} If it is there, take it over with the argument existingId. ` +
        "If it is not, have it made: RECOMMENDER_CREATE_AGAIN=1 pulumi up",
      { cause: lost },
    );
    this.placeholder = `${prefix}${lost.idempotencyKey}.${identity}`;
  }
}

/** The call of which the state does not know what came of it; undefined for an id that is one. */
export function unknownOf(id: unknown): { readonly key: string; readonly identity: string } | undefined {
  if (typeof id !== "string" || !id.startsWith(prefix)) return undefined;
  const dot = id.lastIndexOf(".");
  return { key: id.slice(prefix.length, dot), identity: id.slice(dot + 1) };
}
