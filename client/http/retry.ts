import type { Route } from "../../contract";
import { type ApiError, ConnectionError, ReplyError, TokenError } from "../errors";
import { isForeign, outcomeOf } from "../finality";
import { isUnreachable } from "../unreachable";

/** How long and how patiently a call is tried again. */
export interface RetryPolicy {
  /** Time from the first attempt after which no further attempt begins. */
  readonly budgetMs: number;
  /** The same while no connection can be opened to a service that has not answered this client yet: is it running? */
  readonly unreachableMs: number;
  /** The same while something other than the service answers below 500, such as a gateway with 404. */
  readonly foreignMs: number;
  /** Upper bound of the first delay; each further bound is twice the one before. */
  readonly baseMs: number;
  /** Upper bound of any delay. */
  readonly capMs: number;
}

/** The default policy: waits out two minutes of outage, but gives up after 3 s if the service was never reached. */
export const defaultRetry: RetryPolicy = {
  budgetMs: 120_000,
  unreachableMs: 3_000,
  foreignMs: 20_000,
  baseMs: 250,
  capMs: 20_000,
};

/** What one failed attempt means for the next. */
export interface Failure {
  readonly error: Error;
  /** Whether trying again may help. */
  readonly transient: boolean;
  /** Whether the call may have succeeded all the same. */
  readonly mayHaveRun: boolean;
  /** How long the service asked to be left alone. */
  readonly retryAfterMs?: number | undefined;
}

/** The time that a failure leaves for further attempts. */
export function budgetMs(policy: RetryPolicy, { error }: Failure, hasAnswered: boolean): number {
  if (isUnreachable(error) && !hasAnswered) return Math.min(policy.budgetMs, policy.unreachableMs);
  return isForeign(error) ? Math.min(policy.budgetMs, policy.foreignMs) : policy.budgetMs;
}

/** Full jitter, and never earlier than the service asked for. */
export function delayMs(
  policy: RetryPolicy,
  attempt: number,
  failure: Failure,
  random: () => number,
): number {
  const jitter = random() * Math.min(policy.capMs, policy.baseMs * 2 ** attempt);
  return (failure.retryAfterMs ?? 0) + jitter;
}

/**
 * What an error reply means for the next attempt.
 *
 * @param hasAnswered whether the service has answered under this address before: something else that answers below 500
 * may then be passing, and otherwise shows that the address is wrong
 */
export function errorReplyFailure(
  error: ApiError,
  retryAfterMs: number | undefined,
  hasAnswered: boolean,
): Failure {
  const { status } = error;
  const standing = outcomeOf(error);
  const isPassing = standing === "open" && (status >= 500 || status === 408 || hasAnswered);
  const isDelayed = status === 503 && retryAfterMs !== undefined;
  return {
    error,
    transient: status === 429 || status === 425 || isPassing,
    mayHaveRun: standing === "open" && !isDelayed,
    retryAfterMs,
  };
}

const neverSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** What went wrong while a connection was opened, in words; undefined if it was open. */
export function unreachableReason(origin: string, cause: NodeJS.ErrnoException): string | undefined {
  const code = cause.code ?? "";
  // On a connection that was kept, an unreachable host may show after the request was sent.
  const connecting = cause.syscall === undefined || ["connect", "getaddrinfo"].includes(cause.syscall);
  if (!neverSent.has(code) || !connecting) return undefined;
  return code === "ECONNREFUSED"
    ? `${origin} refuses connections (ECONNREFUSED)`
    : `${origin} cannot be reached (${code})`;
}

/** What an error below HTTP means for the next attempt. */
export function connectionFailure(call: Route, origin: string, cause: NodeJS.ErrnoException): Failure {
  const code = cause.code ?? "";
  const unreachable = unreachableReason(origin, cause);
  if (unreachable !== undefined) {
    const error = new ConnectionError(unreachable, { cause, isUnreachable: true });
    return { error, transient: true, mayHaveRun: false };
  }
  const certificate = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_/.test(code);
  const what = "the connection failed before the whole response arrived";
  const message = `${call.method} ${call.path}: ${what}: ${cause.message || code} (${origin})`;
  return {
    error: new ConnectionError(message, { cause }),
    transient: !certificate,
    mayHaveRun: !certificate,
  };
}

/** What any error of one attempt means for the next; errors of the caller's own making are final. */
export function thrownFailure(error: Error): Failure {
  if (error instanceof TokenError) return { error, transient: error.transient, mayHaveRun: false };
  if (error instanceof ReplyError) return { error, transient: error.passing, mayHaveRun: true };
  return { error, transient: false, mayHaveRun: false };
}

/** `Retry-After` in seconds or as a date; anything else is as if it were not there. */
export function retryAfterMs(header: unknown, now: number): number | undefined {
  if (typeof header !== "string" || header.trim() === "") return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
