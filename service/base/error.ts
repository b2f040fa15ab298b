// base/ contains code that every module may use, such as time, errors, ids and addresses. It does not use the database
// or the files of the service.

import { type ErrorCode, encode, errorBody, errorCodes } from "../../contract";
import { truncate } from "../../contract/messages";

/** A problem in a request. `path` is the path of the invalid field. */
export interface Detail {
  readonly path: string;
  readonly message: string;
}

/** Error response of the API. The message states the problem and what to do. */
export class ServiceError extends Error {
  /** Fastify reads this property. */
  readonly statusCode: number;

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly more: { readonly details?: readonly Detail[]; readonly headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.name = "ServiceError";
    this.statusCode = errorCodes[code];
  }
}

/** Builds the response body for an error. */
export function renderError(error: ServiceError, requestId: string): unknown {
  const { code, message, more } = error;
  const details = more.details ? [...more.details] : undefined;
  return encode(errorBody, { error: { code, message, requestId, details } });
}

/** Truncates a caller's text for a message or log line. */
export function shortened(text: string, maxLength = 200): string {
  return truncate(text, maxLength);
}

/** Returns the error for an id that does not exist. */
export function notFound(kind: string, id: string, fix: string): ServiceError {
  return new ServiceError("NOT_FOUND", `There is no ${kind} ${JSON.stringify(shortened(id))}; ${fix}.`);
}
