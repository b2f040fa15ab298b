import { z } from "zod";
import { type Route, routes } from "../contract";
import { ApiError, ReplyError } from "./errors";
import type { ErrorBody } from "./http/error-body";
import { escapeRegExp } from "./parse";

/** Matches paths in a text. Gateways quote the path of the request, whose ids must not count. */
const quotedPath = /\S*\/\S*/g;
/** Matches names that gateways use for a path or a backend, such as `get-event-dataset` or `dataset-service`. */
const hyphenated = /\S*-\S*/g;
/** Matches a code that is only a number, such as a status. */
const numericCode = /^\d+$/;

/** The ids in a request, and the kinds of objects that its fields refer to. */
export interface Asked {
  readonly kinds: readonly string[];
  readonly ids: readonly string[];
}

/**
 * Returns the kinds of objects that a request refers to. `event_dataset_id` and `eventDatasetId` refer to a dataset.
 * The recommendation call also needs a model, although no field refers to it.
 */
export function kindsIn({ path, request }: Pick<Route, "path" | "request">): string[] {
  const shapes = request instanceof z.ZodObject ? [request.shape] : request.options.map(shapeOf);
  const kinds = shapes
    .flatMap((shape) => Object.keys(shape))
    .flatMap((key) => /([A-Z]?[a-z]+)Id$/.exec(key)?.[1]?.toLowerCase() ?? []);
  return [...new Set(needsModel(path) ? [...kinds, "model"] : kinds)];
}

function needsModel(path: string): boolean {
  return path === routes.recommendItemsToUser.path || path === routes.recommendItemsToItem.path;
}

const shapeOf = (option: unknown): object => (option as z.ZodObject).shape;

/**
 * Statuses that mean that something is missing. Gateways and routers also send them, for missing routes and for their
 * own deployments.
 */
const absenceStatuses = [404, 410];

/**
 * Whether the service itself sent an error reply. The body must be a JSON object with an error code or text. A 404 or
 * 410 must also name the missing object.
 */
export function isRecognised(status: number, body: ErrorBody, asked: Asked): boolean {
  if (status < 400 || body.shape !== "error") return false;
  return !absenceStatuses.includes(status) || namesObject(body, asked);
}

/** Whether an error body names an object of the request, by its id or by its kind. Gateways know neither. */
export function namesObject(
  { code = "", message }: Pick<ErrorBody, "code" | "message">,
  { kinds, ids }: Asked,
): boolean {
  const text = `${numericCode.test(code) ? "" : code} ${message}`.replace(quotedPath, " ");
  if (ids.some((id) => id !== "" && new RegExp(`(?<![\\w-])${escapeRegExp(id)}(?![\\w-])`).test(text)))
    return true;
  const words = text
    .replace(hyphenated, " ")
    .replaceAll("_", " ")
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .replaceAll("data set", "dataset");
  return kinds.some((kind) => new RegExp(`\\b${kind}s?\\b`).test(words));
}

/** Statuses that mean that a call did not run, even if a gateway sent them. */
const notRunStatuses = [401, 403, 407, 425, 429];
/** Statuses that mean that a call did not run if a gateway sent them, because they concern the gateway's own limits. */
const proxyLimitStatuses = [413, 414, 415, 417, 426, 431];
/**
 * Error text of a 409 that may be a consequence of this call. The first call with the same idempotency key may still be
 * running. Or a gateway has sent the call twice, and the second one found the object of the first.
 */
const ofSameCall =
  /in[ _-]progress|being processed|still processing|already processing|concurrent|already[ _]exist|duplicate|^\W*conflict\W*$/i;

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
 * @param mayHaveRun whether an earlier attempt of the same call may have run. If so, 404 and 409 mean `unknown`,
 * because they may be consequences of that attempt
 */
export function outcomeOf(
  { status, code = "", reason, isRecognised }: Evidence,
  mayHaveRun = false,
): Outcome {
  if (notRunStatuses.includes(status) || (!isRecognised && proxyLimitStatuses.includes(status)))
    return "not run";
  if (!isRecognised || status === 408 || status >= 500) return "unknown";
  if (status === 409 && [code, reason].some((text) => ofSameCall.test(text))) return "unknown";
  return mayHaveRun && (status === 404 || status === 409) ? "unknown" : "rejected";
}

/** Whether an error means that the service rejected the call, so a retry is useless. */
export function isFinal(error: unknown, { mayHaveRun = false } = {}): error is ApiError {
  return error instanceof ApiError && outcomeOf(error, mayHaveRun) === "rejected";
}

/** Whether an error is a reply with a status below 500 that leaves the outcome unknown, such as a gateway's 404. */
export function isForeign(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status < 500 && outcomeOf(error) === "unknown";
}

/**
 * Whether a reply leaves the outcome unknown because it may not come from the service. Its status may be an error or a
 * success.
 */
export function isUndecided(error: unknown): error is ApiError | ReplyError {
  return isForeign(error) || error instanceof ReplyError;
}

/** Whether a reply may mean that an object is missing. It does not name the object, so a gateway may have sent it. */
export function mayMeanAbsent(error: unknown): boolean {
  return isForeign(error) && absenceStatuses.includes(error.status);
}

/**
 * Whether a reply may mean that the service does not answer this operation at the address of the call. The service
 * itself has no other reason for 405, and its 404 may concern the address.
 */
export function mayBeWrongAddress(error: unknown): error is ApiError {
  return isForeign(error) || (error instanceof ApiError && [404, 405].includes(error.status));
}

/**
 * Whether an error is the service's own answer to a call that changes nothing: a rejection, or an internal error that
 * remains after the retries. Gateways send 502, 503 and 504 while the service is healthy.
 */
export function isOwnFailure(error: unknown): error is ApiError {
  return isFinal(error) || (error instanceof ApiError && error.isRecognised && error.status === 500);
}
