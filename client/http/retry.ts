import type { Route } from "../../contract";
import type { Clock } from "../clock";
import { type ApiError, ConnectionError, isUnreachable, ReplyError, TokenError } from "../errors";
import { isUndecided, outcomeOf } from "../finality";
import { giveUpError, type WaitNotice } from "./hints";

/** How long and how often a call is retried. */
export interface RetryPolicy {
  /** Time after the first attempt in which new attempts may start. */
  readonly budgetMs: number;
  /** Like `budgetMs`, while no connection can be opened and the service has not responded before. */
  readonly unreachableMs: number;
  /** Like `budgetMs`, while the responses leave the outcome unknown, such as a gateway's 404 or an empty body. */
  readonly foreignMs: number;
  /** Upper bound of the first delay. The bound doubles with each attempt. */
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

/** A failed attempt. */
export interface Failure {
  readonly error: Error;
  /** Whether a retry may help. */
  readonly transient: boolean;
  /** Whether the call may have succeeded anyway. */
  readonly mayHaveRun: boolean;
  /** Time that the service asked to wait before a retry. */
  readonly retryAfterMs?: number | undefined;
}

/** Returns the time after the first attempt in which new attempts may start. */
export function budgetMs(policy: RetryPolicy, { error }: Failure, hasResponded: boolean): number {
  if (isUnreachable(error) && !hasResponded) return Math.min(policy.budgetMs, policy.unreachableMs);
  return isUndecided(error) ? Math.min(policy.budgetMs, policy.foreignMs) : policy.budgetMs;
}

/**
 * Returns the delay before the next attempt: the time that the service asked to wait, plus a random delay (full
 * jitter).
 */
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
 * Decides whether to retry after an error reply.
 *
 * @param hasResponded whether the service has responded at this address before. If so, a reply below 500 that the
 * service did not send may be temporary. If not, the address is probably wrong
 */
export function errorReplyFailure(
  error: ApiError,
  retryAfterMs: number | undefined,
  hasResponded: boolean,
): Failure {
  const { status } = error;
  const outcome = outcomeOf(error);
  const isTransient = outcome === "unknown" && (status >= 500 || status === 408 || hasResponded);
  // Only the service itself knows that it has not started the call.
  const isDelayed = status === 503 && error.isRecognised && retryAfterMs !== undefined;
  return {
    error,
    transient: status === 429 || status === 425 || isTransient,
    mayHaveRun: outcome === "unknown" && !isDelayed,
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

/** Returns why a connection could not be opened, or undefined if it was opened. */
export function unreachableReason(origin: string, cause: NodeJS.ErrnoException): string | undefined {
  const code = cause.code ?? "";
  // On a reused connection, these errors can occur after the request was sent.
  const connecting = cause.syscall === undefined || ["connect", "getaddrinfo"].includes(cause.syscall);
  if (!neverSent.has(code) || !connecting) return undefined;
  return code === "ECONNREFUSED"
    ? `${origin} refuses connections (ECONNREFUSED)`
    : `${origin} cannot be reached (${code})`;
}

/** Decides whether to retry after a connection error. */
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

/** Decides whether to retry after an error that an attempt threw. Errors that the caller caused are not retried. */
export function thrownFailure(error: Error): Failure {
  if (error instanceof TokenError) return { error, transient: error.transient, mayHaveRun: false };
  if (error instanceof ReplyError) return { error, transient: error.passing, mayHaveRun: true };
  return { error, transient: false, mayHaveRun: false };
}

/** Parses `Retry-After`, in seconds or as a date. Returns undefined if it is not valid. */
export function retryAfterMs(header: unknown, now: number): number | undefined {
  if (typeof header !== "string" || header.trim() === "") return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Time budget, clock and other settings for retrying a read. */
export interface ReadLimits {
  readonly policy: RetryPolicy;
  readonly clock: Clock;
  readonly random: () => number;
  /** Reports that the read is waiting for a response or for its next attempt. */
  readonly notice: WaitNotice;
  /** When aborted, the read is not retried. */
  readonly stop?: AbortSignal | undefined;
  /** Command that shows where the address and the credentials come from. */
  readonly whoami: string;
}

/**
 * Retries a read until it succeeds, fails permanently, or exceeds its time budget.
 *
 * @param silence what to report while the service does not respond
 */
export async function retryRead<T>(
  read: () => Promise<T>,
  silence: string,
  failureOf: (error: Error) => Failure,
  { policy, clock, random, notice, stop, whoami }: ReadLimits,
  budgetOf: (failure: Failure) => number = () => policy.unreachableMs,
): Promise<T> {
  const began = clock.now();
  for (let attempt = 0; ; attempt++) {
    try {
      return await notice.during(read(), silence, policy.budgetMs);
    } catch (thrown) {
      const failure = failureOf(thrown as Error);
      if (!failure.transient) throw failure.error;
      const delay = delayMs(policy, attempt, failure, random);
      const spent = clock.now() - began;
      const budget = budgetOf(failure);
      if (spent + delay > budget) throw giveUpError(failure.error, attempt + 1, spent, whoami);
      notice.report(failure.error.message, spent + delay, budget);
      await clock.sleep(delay, stop);
    }
  }
}
