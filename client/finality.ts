import { ApiError } from "./errors";
import type { ErrorBody } from "./http/error-body";

/** The kinds of object in this API, as an error may name them. */
const kinds = /data ?set|project|algorithm|model|job|deploy|user|item/i;

/** A path, with or without its query: gateways quote it, and it holds the names of objects. */
const quotedPath = /\S*\/\S*/g;

/**
 * Whether an error reply is the service's own: its body is a JSON object with an error code or text, and if the status is
 * 404, it names the missing object by kind or id. A gateway also answers 404, but it knows routes and not objects.
 *
 * @param ids the ids that the call carried
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

/** Statuses that turn a call away before it runs, whoever sends them. */
const notRunStatuses = [401, 403, 407, 425, 429];
/** The same for limits of a proxy, unless the service itself sends them as its final answer. */
const proxyLimitStatuses = [413, 414, 415, 417, 426, 431];
/** What a layer that keeps idempotency keys answers while the first call under the key is still running. */
const keyInProgress = /in[ _-]progress|being processed|still processing|already processing|concurrent/i;

/**
 * What an error reply settles.
 *
 * - `final`: the service refused the call. It had no effect, and a repetition gets the same answer.
 * - `turned away`: this attempt did not run, but the reply says nothing about an earlier attempt.
 * - `open`: the call may have run, or the reply did not come from the service.
 */
export type Outcome = "final" | "turned away" | "open";

/** The part of an error reply that decides. */
export type Evidence = Pick<ApiError, "status" | "code" | "reason" | "isRecognised">;

/**
 * Decides for every operation what an error reply settles. Only a reply that the service itself sent is final.
 *
 * @param mayHaveRun whether an earlier attempt of the same call may have run: then 404 and 409 settle nothing, because
 * they may be the result of that attempt
 */
export function outcomeOf(
  { status, code = "", reason, isRecognised }: Evidence,
  mayHaveRun = false,
): Outcome {
  if (notRunStatuses.includes(status) || (!isRecognised && proxyLimitStatuses.includes(status)))
    return "turned away";
  if (!isRecognised || status === 408 || status >= 500) return "open";
  if (status === 409 && keyInProgress.test(`${code} ${reason}`)) return "open";
  return mayHaveRun && (status === 404 || status === 409) ? "open" : "final";
}

/** Whether an error is a final answer of the service. */
export function isFinal(error: unknown, { mayHaveRun = false } = {}): error is ApiError {
  return error instanceof ApiError && outcomeOf(error, mayHaveRun) === "final";
}

/** Whether an error is a reply below 500 that does not settle the call, such as the 404 of a gateway. */
export function isForeign(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status < 500 && outcomeOf(error) === "open";
}
