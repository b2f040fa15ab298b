import { type Input, type Reply, type Route, routes } from "../contract";
import { ApiError, type Client, ReplyError } from "./client";
import type { Clock } from "./clock";
import { meansNotServing } from "./error-meaning";
import { isUnreachable } from "./errors";
import { isFinal, isForeign, isOwnFailure, isUndecided, mayBeWrongAddress } from "./finality";

/** Input of the recommendation call. */
export type RecommendationInput = Input<typeof routes.recommendItemsToUser>;

/** Reply of the recommendation call. */
export type Recommendation = Reply<typeof routes.recommendItemsToUser>;

/** Input of the call for similar items. */
export type SimilarityInput = Input<typeof routes.recommendItemsToItem>;

/** Reply of the call for similar items. */
export type Similar = Reply<typeof routes.recommendItemsToItem>;

/**
 * Gets recommendations from a project.
 * The specification does not define how serving_uri relates to the address of the call. So the call is first sent to
 * serving_uri, if the credentials may be sent there. If the service does not respond there, the call is sent to the
 * base address.
 */
export function recommendItems(
  client: Client,
  input: RecommendationInput,
  servingUri?: string | null,
  headers?: Readonly<Record<string, string>>,
): Promise<Recommendation> {
  return callDeployment(client, routes.recommendItemsToUser, input, servingUri, headers);
}

/** Gets items that are similar to given ones, from the same addresses as `recommendItems`. */
export function similarItems(
  client: Client,
  input: SimilarityInput,
  servingUri?: string | null,
): Promise<Similar> {
  return callDeployment(client, routes.recommendItemsToItem, input, servingUri);
}

async function callDeployment<R extends Route>(
  client: Client,
  route: R,
  input: Input<R>,
  servingUri?: string | null,
  headers?: Readonly<Record<string, string>>,
): Promise<Reply<R>> {
  const { path } = routes.recommendItemsToUser;
  const address = servingUri ? client.serving.addressOf(servingUri) : undefined;
  if (address) {
    const baseUrl = address.endsWith(path) ? address.slice(0, -path.length) : address;
    try {
      const options = { baseUrl, headers, hasFallback: true };
      return await client.call(route, input, options);
    } catch (error) {
      if (!(error instanceof ReplyError) && !mayBeWrongAddress(error)) throw error;
    }
  }
  try {
    return await client.call(route, input, { headers });
  } catch (error) {
    const notice = withheldNotice(client, servingUri);
    if (notice && mayBeWrongAddress(error)) error.message += ` ${notice}`;
    throw error;
  }
}

/**
 * Returns a notice if a call goes to the base address, because the credentials must not be sent to its serving address.
 */
export function withheldNotice(client: Client, servingUri: string | null | undefined): string | undefined {
  if (!servingUri || client.serving.addressOf(servingUri)) return undefined;
  const origin = URL.canParse(servingUri) ? new URL(servingUri).origin : "its serving address";
  return (
    `The call was not sent to ${origin}, because the credentials belong to another address. It was sent to ` +
    `${new URL(client.baseUrl).origin} without a project.`
  );
}

/** A deployment as stored in the state. */
interface StoredDeployment {
  readonly projectId: string;
  readonly deploymentJobId?: string | undefined;
  readonly servingUri?: string | undefined;
}

/**
 * Returns the serving address of a deployment. If the credentials must not be sent to the address in the state, asks
 * the service for the current address, because the state may come from another service.
 */
export async function currentServingUri(
  client: Client,
  { projectId, deploymentJobId: jobId, servingUri }: StoredDeployment,
): Promise<string | undefined> {
  if (!servingUri || !jobId || client.serving.addressOf(servingUri)) return servingUri;
  const job = await client.call(routes.getJob, { projectId, jobId }).catch(() => undefined);
  return job?.jobResult?.servingUri ?? servingUri;
}

/**
 * Users for whom a deployment must return recommendations, with the minimum number of results, the maximum latency, and
 * an expression that the results must match.
 */
export interface ServingCheck {
  readonly userIds: readonly string[];
  readonly minResults: number;
  readonly maxLatencyMs?: number | undefined;
  readonly filterQuery?: string | undefined;
}

/**
 * Whether a project has a live deployment. Any response of the service proves it, unless the response says otherwise.
 * The result is `unknown` if the response may not come from the service.
 */
export async function isServing(
  userId: string | undefined,
  servingUri: string | null | undefined,
  { client }: { readonly client: Client },
): Promise<boolean | "unknown"> {
  try {
    await recommendItems(client, { userId: userId ?? "nobody", limit: 1 }, servingUri);
    return true;
  } catch (error) {
    if (isFinal(error)) return !meansNotServing(error);
    if (isForeign(error)) return "unknown";
    throw error;
  }
}

/** A deployment with its check. */
interface CheckedDeployment {
  readonly check?: ServingCheck | undefined;
  readonly qps: number;
}

/**
 * Why a check failed. `refused`: the service rejected a call; `few`: too few results; `slow`: the response took too
 * long; `foreign`: something other than the service responds.
 */
interface CheckFailure {
  readonly kind: "refused" | "few" | "slow" | "foreign";
  readonly reason: string;
}

/**
 * Runs the check of a deployment. Returns why it failed, or undefined if it passed or the deployment declares no check.
 * Throws if the outcome is unknown: the credentials are rejected, or the service is overloaded or cannot be reached.
 * The reason refers to users by their index, because it is stored in the stack state and user ids are personal data.
 *
 * @param isRefresh whether a refresh runs the check. A refresh ignores latency. For an internal error of the service it
 * throws, while otherwise the check fails. For a response that did not come from the service it returns `foreign`,
 * while otherwise the check throws
 */
export async function runCheck(
  { check, qps }: CheckedDeployment,
  servingUri: string | undefined,
  { client, clock }: { readonly client: Client; readonly clock: Clock },
  isRefresh = false,
): Promise<CheckFailure | undefined> {
  if (!check) return undefined;
  const { userIds, minResults = 1, maxLatencyMs, filterQuery } = check;
  const filtered = filterQuery !== undefined && { filterQuery };
  for (const [index, userId] of userIds.entries()) {
    // Stay within the deployment's qps. Otherwise the waiting time for its rate limit would count as latency.
    if (index > 0) await clock.sleep(1000 / qps);
    const place = `check.userIds[${index}]`;
    const began = performance.now();
    try {
      const { results } = await recommendItems(
        client,
        { userId, limit: Math.max(minResults, 1), ...filtered },
        servingUri,
      );
      const tookMs = Math.round(performance.now() - began);
      if (results.length < minResults) {
        const got = `${results.length} result${results.length === 1 ? "" : "s"}`;
        const reason = `the check failed: ${place} got ${got}, but at least ${minResults} are required`;
        return { kind: "few", reason };
      }
      if (!isRefresh && maxLatencyMs !== undefined && tookMs > maxLatencyMs) {
        const reason = `the check failed: the response for ${place} took ${tookMs} ms, but the limit is ${maxLatencyMs} ms`;
        return { kind: "slow", reason };
      }
    } catch (error) {
      const kind = failureKind(error, isRefresh);
      if (isUnreachable(error)) throw error;
      const text = `${place}: ${errorText(error as Error, userId)}`;
      if (!kind) throw new Error(text, { cause: error });
      return { kind, reason: kind === "foreign" ? text : `the check failed: ${text}` };
    }
  }
  return undefined;
}

/**
 * Returns the kind of check failure that an error means, or undefined if the error says nothing about the deployment.
 */
function failureKind(error: unknown, isRefresh: boolean): CheckFailure["kind"] | undefined {
  if (!isRefresh) return isOwnFailure(error) ? "refused" : undefined;
  if (isFinal(error)) return "refused";
  return isUndecided(error) ? "foreign" : undefined;
}

/** Describes the error of a call. Leaves out the service's message if it contains the user id. */
function errorText(error: Error, userId: string): string {
  if (!(error instanceof ApiError) || !error.reason.includes(userId)) return error.message;
  const { status, code, requestId } = error;
  return [status, code, requestId && `(request ${requestId})`].filter(Boolean).join(" ");
}
