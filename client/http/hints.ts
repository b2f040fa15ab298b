import type { Clock } from "../clock";
import { ConnectionError, isUnreachable, TokenError } from "../errors";

/** Properties of an error reply that determine its hint. */
interface ErrorReply {
  readonly status: number;
  readonly isRecognised: boolean;
  /** Whether the body is an HTML page. */
  readonly isPage: boolean;
  /** Target of a redirect, or empty. */
  readonly location: string;
}

/** The call that got the reply, and facts about its client. */
interface CallContext {
  readonly origin: string;
  /** Ids in the request by wire name. */
  readonly ids: Readonly<Record<string, string>>;
  readonly tokensFrom: string;
  /** Command that shows where the address and the credentials come from. */
  readonly whoami: string;
}

/** Returns what to do about an error reply, or an empty text if the error explains itself. */
export function hintOf({ status, isRecognised, isPage, location }: ErrorReply, call: CallContext): string {
  const { origin, ids, tokensFrom, whoami } = call;
  if (status < 400)
    return `; it redirects to ${location || "an unknown address"}. Check that ${origin} is the address of the service.`;
  // The service may send these statuses without a body, but it never sends an HTML page.
  if (isPage && [401, 403].includes(status))
    return `; a proxy sent this response, not the service. Check the proxies and firewalls on the way to ${origin}.`;
  if (status === 401) return `; the token came from ${tokensFrom}. Check it with \`${whoami}\`.`;
  if (status === 403)
    return `; the token came from ${tokensFrom}. See the scopes it covers with \`${whoami}\`.`;
  if ([404, 410].includes(status) && isRecognised) return `; the request was sent to ${origin}`;
  if (status >= 500 || isRecognised) return "";
  const [key, id] =
    Object.entries(ids).findLast(([name]) => name !== "project_id") ?? Object.entries(ids)[0] ?? [];
  const unknown = [404, 410].includes(status) && key ? `, so it is unknown whether ${key} ${id} exists` : "";
  return `; the response did not come from the service${unknown}. Check that ${origin} is its address.`;
}

/** Adds to an error how long the call was tried. A token error is not changed, because several calls can share it. */
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
    error.message += ` (gave up after ${attempts} attempts in ${seconds} s)`;
  return error;
}

/** Adds to an error that the call was not retried because the run was stopped. */
export function stoppedError(error: Error, reason: Error): Error {
  if (!(error instanceof TokenError)) error.message += `; not retried, because ${reason.message}`;
  return error;
}

/** Time after which a waiting call is reported. */
const firstReportMs = 2_000;
/** Minimum time budget of calls whose waiting is reported. */
const minBudgetMs = 5_000;
/** Time after which an attempt without a response is reported. */
const silentMs = 4_000;
/** Minimum time between two reports of a client. */
const reportIntervalMs = 10_000;

/** Reports that calls wait for the service, with one message for all concurrent calls. */
export class WaitNotice {
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: Clock,
    private readonly onWait: ((message: string) => void) | undefined,
  ) {}

  /** Waits for an attempt, and reports every few seconds that it still has no response. */
  during<T>(attempt: Promise<T>, reason: string, budgetMs: number): Promise<T> {
    if (!this.onWait) return attempt;
    const began = performance.now();
    const timer = setInterval(() => this.report(reason, performance.now() - began, budgetMs), silentMs);
    timer.unref();
    return attempt.finally(() => clearInterval(timer));
  }

  /** Reports that a call is waiting for a response or for its next attempt. */
  report(reason: string, waitedMs: number, budgetMs: number): void {
    const now = this.clock.now();
    // Calls with a short budget report their error soon anyway.
    if (budgetMs < minBudgetMs || waitedMs < firstReportMs || now - this.#reportedAt < reportIntervalMs)
      return;
    this.#reportedAt = now;
    const [waited, budget] = [waitedMs, budgetMs].map((ms) => Math.round(ms / 1000));
    this.onWait?.(`waiting for the service: ${reason}; ${waited} s so far, at most ${budget} s`);
  }
}
