import type { OutcomeUnknownError } from "../../client/errors";

const prefix = "unknown-";

/** What the user needs to know to decide about a lost call. */
interface Known {
  /** The name that the program gives the resource. */
  readonly name: string;
  /** Objects that the call may have created. */
  readonly candidates: readonly string[];
  /** Stacks whose state could not be read: one of them may hold a candidate. */
  readonly unread?: readonly string[];
  /** A step that may help before anything else. */
  readonly fix?: string | undefined;
  /** When the call was first sent, in milliseconds since 1970. */
  readonly at: number;
  /** Whether this stack is known to have sent the call, so its state keeps a placeholder for the object. */
  readonly isSent: boolean;
  /** Whether the object can also be adopted with the argument `existingId`. */
  readonly hasExistingId: boolean;
}

/** It is unknown whether something was created; only the user can decide whether to adopt it or to create it again. */
export class UnknownCreationError extends Error {
  override readonly name = "UnknownCreationError";
  /** Stands in the state for the id that is not known; undefined if another stack may have sent the call. */
  readonly placeholder: string | undefined;

  constructor(lost: OutcomeUnknownError, identity: string, known: Known) {
    const { name, candidates, unread = [], fix, isSent, hasExistingId } = known;
    const found =
      candidates.length > 0
        ? [`It may have created ${candidates.join(" or ")}, which nothing proves to be ours.`]
        : [];
    const doubt = unread.length > 0 ? [`Not checked, as it cannot be read: ${unread.join(", ")}.`] : [];
    const id = candidates.length === 1 ? candidates[0] : "ID";
    super(
      [
        ...[`${lost.message}.`, ...found, ...doubt, ...(fix ? [fix] : [])],
        `If it exists, adopt it: \`RECOMMENDER_ADOPT=${quoted(`${name}=${id}`)} pulumi up\`` +
          `${hasExistingId ? ", or with the argument existingId" : ""}.`,
        `If it does not, create it: \`RECOMMENDER_CREATE_AGAIN=${quoted(name)} pulumi up\`.`,
        ...(isSent
          ? ["Remove the option protect for that run: the placeholder in the state is replaced."]
          : []),
      ].join(" "),
      { cause: lost },
    );
    this.placeholder = isSent ? `${prefix}${lost.idempotencyKey}.${identity}.${known.at}` : undefined;
  }
}

function quoted(text: string): string {
  return /^[\w.:/=@%+-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The lost call that a placeholder stands for; undefined for a real id. */
export function lostCallOf(id: unknown): LostCall | undefined {
  const [, key, identity, at] = /^unknown-(.+)\.([^.]+)\.(\d+)$/.exec(typeof id === "string" ? id : "") ?? [];
  if (!key || !identity) return undefined;
  return { key, identity, at: new Date(Number(at)).toISOString() };
}

/** A call that got no response. */
export interface LostCall {
  readonly key: string;
  readonly identity: string;
  readonly at: string;
}
