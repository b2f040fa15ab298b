import type { Clock } from "../clock";
import { ConnectionError, TokenError } from "../errors";
import { isUnreachable } from "../unreachable";

/** An error reply, as far as its hint depends on it. */
interface ErrorReply {
  readonly status: number;
  readonly isRecognised: boolean;
  /** Where a redirect leads; empty if the reply does not say. */
  readonly location: string;
}

/** The call and the client that got the reply. */
interface CallContext {
  readonly origin: string;
  /** Ids in the request, by their names on the wire. */
  readonly ids: Readonly<Record<string, string>>;
  readonly tokensFrom: string;
  /** The command that shows where address and credentials come from. */
  readonly whoami: string;
}

/** What to do about an error reply; empty if its own text is enough. */
export function hintOf({ status, isRecognised, location }: ErrorReply, asked: CallContext): string {
  const { origin, ids, tokensFrom, whoami } = asked;
  if (status < 400)
    return `; it leads to ${location || "another place"}: is ${origin} the address of the service itself?`;
  if (status === 401) return `; the token came from ${tokensFrom}. Check it with \`${whoami}\`.`;
  if (status === 403)
    return `; the token came from ${tokensFrom}. See the scopes it covers with \`${whoami}\`.`;
  if (status === 404 && isRecognised) return `; the service asked was ${origin}`;
  if (status >= 500 || isRecognised) return "";
  const [key, id] =
    Object.entries(ids).findLast(([name]) => name !== "project_id") ?? Object.entries(ids)[0] ?? [];
  const unknown = status === 404 && key ? `, so it is unknown whether ${key} ${id} exists` : "";
  return `; the service itself did not send this${unknown}. Check that ${origin} is its address.`;
}

/** The error of a call that is not tried again, with how long it was tried. An error that calls share stays as it is. */
export function giveUpError(error: Error, attempts: number, spentMs: number, whoami: string): Error {
  const seconds = Math.round(spentMs / 1000);
  if (isUnreachable(error)) {
    const message = `${error.message}, tried for ${seconds} s. Is the service running? Check the address with \`${whoami}\`.`;
    const options = { cause: error, isUnreachable: true };
    return error instanceof TokenError
      ? new TokenError(message, { ...options, transient: true })
      : new ConnectionError(message, options);
  }
  if (!(error instanceof TokenError))
    error.message += ` (given up after ${attempts} attempts in ${seconds} s)`;
  return error;
}

/** The error of a call that would have been tried again, if the run had not been told to stop. */
export function stoppedError(error: Error, reason: Error): Error {
  if (!(error instanceof TokenError)) error.message += `; not tried again, because ${reason.message}`;
  return error;
}

/** Waits shorter than this are not reported. */
const silentMs = 2_000;
/** Waits of at most this long are not reported either. */
const shortMs = 5_000;
/** Time between two reports, over all calls of a client. */
const everyMs = 10_000;

/** Reports that calls wait for the service, and for how long: one line for all calls that wait at the same time. */
export class WaitNotice {
  #saidAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: Clock,
    private readonly tell: ((message: string) => void) | undefined,
  ) {}

  say(error: Error, waitedMs: number, budgetMs: number): void {
    // A wait that ends that soon is reported by its error.
    if (!this.tell || budgetMs < shortMs || waitedMs < silentMs || this.clock.now() - this.#saidAt < everyMs)
      return;
    this.#saidAt = this.clock.now();
    const [waited, budget] = [waitedMs, budgetMs].map((ms) => Math.round(ms / 1000));
    this.tell(`waiting for the service: ${error.message}; ${waited} s so far, at most ${budget} s`);
  }
}
