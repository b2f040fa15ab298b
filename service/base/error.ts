// base/ is what every room may use: time, errors, ids and addresses. It knows no table and no file of the service.

import { type ErrorCode, encode, errorBody, errorCodes } from "../../contract";
import { truncate } from "../../contract/messages";

/** One fault of a request, with its place in the body as the wire names it. */
export interface Detail {
  readonly path: string;
  readonly message: string;
}

/** Why a call was refused: the code, what is wrong with what, and what to do. */
export class ServiceError extends Error {
  /** Named as fastify names it. */
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

/** The one body of all errors. */
export function renderError(error: ServiceError, requestId: string): unknown {
  const { code, message, more } = error;
  const details = more.details ? [...more.details] : undefined;
  return encode(errorBody, { error: { code, message, requestId, details } });
}

/** Cuts a caller's text to a length that fits into a message or log line. */
export function shortened(text: string, maxLength = 200): string {
  return truncate(text, maxLength);
}

/** Says that something named in a request is not there. */
export function notFound(noun: string, id: string, fix: string): ServiceError {
  return new ServiceError("NOT_FOUND", `There is no ${noun} ${JSON.stringify(shortened(id))}; ${fix}.`);
}
