import type { z } from "zod";
import type { Route } from "../contract";
import { issuesText } from "../contract/messages";
import type { ErrorBody } from "./http/error-body";

type Call = Pick<Route, "method" | "path">;

/** A reply with an error status. `isRecognised` says whether it came from the service or from something in front of it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The service's error code, if the body has one. */
  readonly code: string | undefined;
  /** The error text of the body, without the call. */
  readonly reason: string;
  readonly requestId: string | undefined;
  /** Whether the body is an error of the service, by the rule of `isRecognised` in finality.ts. */
  readonly isRecognised: boolean;

  constructor(
    call: Call,
    answer: Omit<ErrorBody, "shape"> & {
      status: number;
      requestId?: string | undefined;
      isRecognised?: boolean | undefined;
    },
    hint = "",
  ) {
    const code = answer.code ? ` ${answer.code}` : "";
    const request = answer.requestId ? ` (request ${answer.requestId})` : "";
    super(`${call.method} ${call.path}: ${answer.status}${code}: ${answer.message}${request}${hint}`);
    this.method = call.method;
    this.path = call.path;
    this.status = answer.status;
    this.code = answer.code;
    this.reason = answer.message;
    this.requestId = answer.requestId;
    this.isRecognised = answer.isRecognised ?? true;
  }
}

/** The service answered success with a body that is not what the contract says. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
  readonly status: number;
  readonly requestId: string | undefined;
  /** Whether a retry may help: the JSON is incomplete, or a proxy sent its own page. */
  readonly passing: boolean;

  constructor(
    call: Call,
    status: number,
    problem: string,
    options: { requestId?: string | undefined; passing?: boolean } = {},
  ) {
    const request = options.requestId ? ` (request ${options.requestId})` : "";
    super(`${call.method} ${call.path}: answered ${status}, but ${problem}${request}`);
    this.status = status;
    this.requestId = options.requestId;
    this.passing = options.passing ?? false;
  }
}

/** The call did not reach the service, or the reply was incomplete, and a retry was useless or unsafe. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  /** Whether no connection could be opened, so the call was not sent. */
  readonly isUnreachable: boolean;

  constructor(message: string, options: ErrorOptions & { isUnreachable?: boolean } = {}) {
    super(message, options);
    this.isUnreachable = options.isUnreachable ?? false;
  }
}

/** A call that creates or submits may or may not have succeeded; `cause` says what was seen. */
export class OutcomeUnknownError extends Error {
  override readonly name = "OutcomeUnknownError";
  override readonly cause: Error;
  readonly method: string;
  readonly path: string;
  /** The key under which a service that honours it would answer the same call again. */
  readonly idempotencyKey: string;

  constructor(
    call: Call,
    idempotencyKey: string,
    cause: Error,
    { attempts = 1, honoured = false }: { attempts?: number; honoured?: boolean | undefined } = {},
  ) {
    const sent =
      attempts > 1 && honoured
        ? `It was sent ${attempts} times under one key, which the service honours`
        : "It was not sent again, so as not to do it twice";
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

/** What was given to a call does not fit the contract; nothing was sent. */
export class InputError extends Error {
  override readonly name = "InputError";

  constructor(call: Pick<Route, "method" | "path" | "request">, issues: readonly z.core.$ZodIssue[]) {
    super(`${call.method} ${call.path}: ${issuesText(issues, call.request)}`);
  }
}

/** What is known about a token that could not be obtained. */
type TokenFailure = Pick<TokenError, "transient" | "isUnreachable" | "refusal">;

/** No token could be obtained for a call; the call was not sent. */
export class TokenError extends Error {
  override readonly name = "TokenError";
  /** Whether a retry may help. */
  readonly transient: boolean;
  /** Whether no connection to the token endpoint could be opened. */
  readonly isUnreachable: boolean;
  /** What the token endpoint rejected, if it said so. */
  readonly refusal: "credentials" | "scope" | undefined;

  constructor(message: string, options: ErrorOptions & Partial<TokenFailure> = {}) {
    super(message, options);
    this.transient = options.transient ?? false;
    this.isUnreachable = options.isUnreachable ?? false;
    this.refusal = options.refusal;
  }
}

/** Whether the service, or the token endpoint, could not be reached or was overloaded: the call taught us nothing. */
export function isOutage(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof TokenError && error.transient);
}
