import type { z } from "zod";
import type { Route } from "../contract";
import { issuesText } from "../contract/messages";
import type { ErrorBody } from "./http/error-body";

type Call = Pick<Route, "method" | "path">;

/** A response with an error status. `isRecognised` is false if a proxy or gateway may have sent it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The service's error code, if the body has one. */
  readonly code: string | undefined;
  /** The error text in the body, without the method and path of the call. */
  readonly reason: string;
  readonly requestId: string | undefined;
  /** Whether the service itself sent the response. See `isRecognised` in finality.ts. */
  readonly isRecognised: boolean;
  /** Whether the body names an object of the request. Otherwise "not found" may be about something else. */
  readonly namesObject: boolean;

  constructor(
    call: Call,
    reply: Omit<ErrorBody, "shape"> & {
      status: number;
      requestId?: string | undefined;
      isRecognised?: boolean | undefined;
      namesObject?: boolean | undefined;
    },
    hint = "",
  ) {
    const code = reply.code ? ` ${reply.code}` : "";
    const request = reply.requestId ? ` (request ${reply.requestId})` : "";
    super(`${call.method} ${call.path}: ${reply.status}${code}: ${reply.message}${request}${hint}`);
    this.method = call.method;
    this.path = call.path;
    this.status = reply.status;
    this.code = reply.code;
    this.reason = reply.message;
    this.requestId = reply.requestId;
    this.isRecognised = reply.isRecognised ?? true;
    this.namesObject = reply.namesObject ?? true;
  }
}

/** A response with a success status whose body does not match the contract or belongs to another call. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
  readonly status: number;
  readonly requestId: string | undefined;
  /** Whether a retry may help, because the JSON is incomplete or the service has responded at this address before. */
  readonly passing: boolean;
  /** Whether the body matches the contract, but repeats a field of the request with another value. */
  readonly isOfOtherCall: boolean;

  constructor(
    call: Call,
    status: number,
    problem: string,
    options: { requestId?: string | undefined; passing?: boolean; isOfOtherCall?: boolean } = {},
  ) {
    const request = options.requestId ? ` (request ${options.requestId})` : "";
    super(`${call.method} ${call.path}: returned ${status}, but ${problem}${request}`);
    this.status = status;
    this.requestId = options.requestId;
    this.passing = options.passing ?? false;
    this.isOfOtherCall = options.isOfOtherCall ?? false;
  }
}

/**
 * The service could not be reached, or the response was incomplete. The call was not retried, or all retries failed.
 */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  /** Whether no connection could be opened, so the call was not sent. */
  readonly isUnreachable: boolean;

  constructor(message: string, options: ErrorOptions & { isUnreachable?: boolean } = {}) {
    super(message, options);
    this.isUnreachable = options.isUnreachable ?? false;
  }
}

/** A create or submit that may or may not have succeeded. `cause` is the error of the last attempt. */
export class OutcomeUnknownError extends Error {
  override readonly name = "OutcomeUnknownError";
  override readonly cause: Error;
  readonly method: string;
  readonly path: string;
  /** Idempotency key of the call. If the service honours keys, the call can safely be repeated with it. */
  readonly idempotencyKey: string;

  constructor(
    call: Call,
    idempotencyKey: string,
    cause: Error,
    { attempts = 1, honoured = false }: { attempts?: number; honoured?: boolean | undefined } = {},
  ) {
    const sent =
      attempts > 1 && honoured
        ? `It was sent ${attempts} times with the same idempotency key`
        : "It was not retried, because that could create a duplicate";
    super(
      `The outcome of ${call.method} ${call.path} is unknown: it may have succeeded. ${sent}. ` +
        `Check the service before you try again. Cause: ${cause.message}`,
    );
    this.cause = cause;
    this.method = call.method;
    this.path = call.path;
    this.idempotencyKey = idempotencyKey;
  }
}

/** The input of a call does not match the contract. Nothing was sent. */
export class InputError extends Error {
  override readonly name = "InputError";

  constructor(call: Pick<Route, "method" | "path" | "request">, issues: readonly z.core.$ZodIssue[]) {
    super(`${call.method} ${call.path}: ${issuesText(issues, call.request)}`);
  }
}

/** Details of a failed token request. */
type TokenFailure = Pick<TokenError, "transient" | "isUnreachable" | "refusal">;

/** The client could not get a token. The call was not sent. */
export class TokenError extends Error {
  override readonly name = "TokenError";
  /** Whether a retry may help. */
  readonly transient: boolean;
  /** Whether no connection to the token endpoint could be opened. */
  readonly isUnreachable: boolean;
  /** What the token endpoint rejected, if known. */
  readonly refusal: "credentials" | "scope" | undefined;

  constructor(message: string, options: ErrorOptions & Partial<TokenFailure> = {}) {
    super(message, options);
    this.transient = options.transient ?? false;
    this.isUnreachable = options.isUnreachable ?? false;
    this.refusal = options.refusal;
  }
}

/**
 * Whether the service could not be reached, or the token endpoint could not be reached or was overloaded. Such an error
 * says nothing about the call itself.
 */
export function isOutage(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof TokenError && error.transient);
}

/** Whether an error means that no connection to the service or its token endpoint could be opened. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof Error && "isUnreachable" in error && error.isUnreachable === true;
}
