import type { Route } from "../../contract";
import { type ApiError, ConnectionError, ReplyError, TokenError } from "../errors";

/** How long and how patiently a call is tried again. */
export interface RetryPolicy {
  /** Time from the first attempt after which no further attempt begins. */
  readonly budgetMs: number;
  /** Upper bound of the first delay; each further bound is twice the one before. */
  readonly baseMs: number;
  /** Upper bound of any delay. */
  readonly capMs: number;
}

/** The policy unless another is given: rides through a minute of unavailability. */
export const defaultRetry: RetryPolicy = { budgetMs: 120_000, baseMs: 250, capMs: 20_000 };

/** What one failed attempt means for the next. */
export interface Failure {
  readonly error: Error;
  /** Whether trying again may help. */
  readonly transient: boolean;
  /** Whether the call may have succeeded all the same. */
  readonly mayBeDone: boolean;
  /** How long the service asked to be left alone. */
  readonly retryAfterMs?: number | undefined;
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

/** What a refusal means for the next attempt. */
export function refusalFailure(error: ApiError, retryAfterMs: number | undefined): Failure {
  const { status } = error;
  const notDone = (status < 500 && status !== 408) || (status === 503 && retryAfterMs !== undefined);
  const transient = status === 429 || status === 408 || status >= 500;
  return { error, transient, mayBeDone: !notDone, retryAfterMs };
}

const neverSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** What an error below HTTP means for the next attempt. */
export function connectionFailure(call: Route, origin: string, cause: NodeJS.ErrnoException): Failure {
  const code = cause.code ?? "";
  // On a connection that was kept, an unreachable host may show after the request was sent.
  const connecting = cause.syscall === undefined || ["connect", "getaddrinfo"].includes(cause.syscall);
  const unreachable = neverSent.has(code) && connecting;
  const certificate = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_/.test(code);
  const what = unreachable
    ? "the service could not be reached"
    : "the connection failed before the whole response arrived";
  const error = new ConnectionError(call, origin, `${what}: ${cause.message || code}`, { cause });
  return { error, transient: !certificate, mayBeDone: !unreachable && !certificate };
}

/** What any error of one attempt means for the next; errors of the caller's own making are final. */
export function otherFailure(error: Error): Failure {
  if (error instanceof TokenError) return { error, transient: error.transient, mayBeDone: false };
  if (error instanceof ReplyError) return { error, transient: error.passing, mayBeDone: true };
  return { error, transient: false, mayBeDone: false };
}

/** `Retry-After` in seconds or as a date; anything else is as if it were not there. */
export function retryAfterMs(header: unknown, now: number): number | undefined {
  if (typeof header !== "string" || header.trim() === "") return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
