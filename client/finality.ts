import { ApiError } from "./errors";
import type { ErrorBody } from "./http/error-body";

/** Names of object types in error messages. */
const kinds = /data ?set|project|algorithm|model|job|deploy|user|item/i;

/** A path, with or without a query. Gateways quote it, and it contains names of object types. */
const quotedPath = /\S*\/\S*/g;

/**
 * Whether the service itself sent an error reply. The body must be a JSON object with an error code or text. A 404 must
 * also name the type or id of the missing object, because gateways return 404 too but know only routes.
 *
 * @param ids ids in the request
 */
export function isRecognised(
  status: number,
  { code = "", message, shape }: ErrorBody,
  ids: readonly string[] = [],
): boolean {
  if (status < 400 || shape !== "error") return false;
  if (status !== 404) return true;
  const words = `${code} ${message}`.replace(quotedPath, " ").replaceAll("_", " ");
  return kinds.test(words) || ids.some((id) => id !== "" && words.includes(id.replaceAll("_", " ")));
}

/** Statuses that mean that a call did not run, even if a gateway sent them. */
const notRunStatuses = [401, 403, 407, 425, 429];
/** Statuses that mean the same if a gateway sent them, because they are about its own limits. */
const proxyLimitStatuses = [413, 414, 415, 417, 426, 431];
/** Error text of a 409 while the first call with the same idempotency key is still running. */
const keyInProgress = /in[ _-]progress|being processed|still processing|already processing|concurrent/i;

/**
 * What an error reply says about the call.
 *
 * - `rejected`: the service rejected the call. It had no effect, and a retry gets the same response.
 * - `not run`: this attempt did not run. An earlier attempt may have.
 * - `unknown`: the call may have run, or the reply did not come from the service.
 */
export type Outcome = "rejected" | "not run" | "unknown";

/** Properties of an error reply that decide the outcome. */
export type Evidence = Pick<ApiError, "status" | "code" | "reason" | "isRecognised">;

/**
 * Decides what an error reply says about the call. Only the service itself can reject a call.
 *
 * @param mayHaveRun whether an earlier attempt of the same call may have run. Then 404 and 409 mean `unknown`, because
 * they may be consequences of that attempt
 */
export function outcomeOf(
  { status, code = "", reason, isRecognised }: Evidence,
  mayHaveRun = false,
): Outcome {
  if (notRunStatuses.includes(status) || (!isRecognised && proxyLimitStatuses.includes(status)))
    return "not run";
  if (!isRecognised || status === 408 || status >= 500) return "unknown";
  if (status === 409 && keyInProgress.test(`${code} ${reason}`)) return "unknown";
  return mayHaveRun && (status === 404 || status === 409) ? "unknown" : "rejected";
}

/** Whether an error means that the service rejected the call, so a retry is useless. */
export function isFinal(error: unknown, { mayHaveRun = false } = {}): error is ApiError {
  return error instanceof ApiError && outcomeOf(error, mayHaveRun) === "rejected";
}

/** Whether an error is a reply below 500 that leaves the outcome unknown, such as the 404 of a gateway. */
export function isForeign(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status < 500 && outcomeOf(error) === "unknown";
}
