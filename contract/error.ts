import { z } from "zod";
import { maybe } from "./field";

/**
 * Error codes of the service in this package, with their HTTP statuses. The specification defines no codes, so clients
 * accept any text.
 */
export const errorCodes = {
  BAD_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  MODEL_DEPLOYED: 409,
  NOT_DEPLOYED: 409,
  PLAN_EXCEEDED: 409,
  TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  EXPECTATION_FAILED: 417,
  IDEMPOTENCY_CONFLICT: 422,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

/** An error code of the service in this package. */
export type ErrorCode = keyof typeof errorCodes;

/** Body of every error that the service in this package returns. */
export const errorBody = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    requestId: maybe(z.string()),
    details: maybe(z.array(z.object({ path: z.string(), message: z.string() }))),
  }),
});

/** Response header that lists the methods for which a service honours `Idempotency-Key`. */
export const idempotencyHeader = "accept-idempotency-key";
