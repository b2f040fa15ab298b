import { type Input, type Reply, routes } from "../contract";
import { ApiError, type Client, ReplyError } from "./client";
import type { Clock } from "./clock";
import { meansNotServing } from "./error-meaning";
import { isFinal, isForeign } from "./finality";

/** Input of the recommendation call. */
export type RecommendationInput = Input<typeof routes.recommendItemsToUser>;

/** Reply of the recommendation call. */
export type Recommendation = Reply<typeof routes.recommendItemsToUser>;

/**
 * Gets recommendations from a project.
 * The specification does not define how serving_uri relates to the address of the call. So the call is sent to
 * serving_uri first, and then to the base address if the service does not respond there.
 */
export async function recommendItems(
  client: Client,
  input: RecommendationInput,
  servingUri?: string | null,
  headers?: Readonly<Record<string, string>>,
): Promise<Recommendation> {
  const path = routes.recommendItemsToUser.path;
  if (!servingUri || !/^https?:/.test(servingUri))
    return client.call(routes.recommendItemsToUser, input, { headers });
  const baseUrl = servingUri.endsWith(path) ? servingUri.slice(0, -path.length) : servingUri;
  try {
    const options = { baseUrl, headers, hasFallback: true };
    return await client.call(routes.recommendItemsToUser, input, options);
  } catch (error) {
    const isWrongAddress =
      error instanceof ReplyError ||
      isForeign(error) ||
      (error instanceof ApiError && [404, 405].includes(error.status));
    if (!isWrongAddress) throw error;
    return client.call(routes.recommendItemsToUser, input, { headers });
  }
}

/** Recommendations that a deployment must answer. */
export interface ServingCheck {
  readonly userIds: readonly string[];
  readonly minResults: number;
  readonly maxLatencyMs?: number | undefined;
}

/** Whether a project has a live deployment. Any response of the service proves it, except one that nothing is deployed. */
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

/** Why a check failed. `refused`: a call failed; `few`: too few results; `slow`: the response took too long. */
interface CheckFailure {
  readonly kind: "refused" | "few" | "slow";
  readonly reason: string;
}

/**
 * Runs the check of a deployment. Returns the reason why it failed, or undefined if it passed or none is declared.
 * The reason refers to users by their index, because it is stored in the stack state and user ids are personal data.
 */
export async function runCheck(
  deployment: CheckedDeployment,
  servingUri: string | undefined,
  context: { readonly client: Client; readonly clock: Clock },
): Promise<string | undefined> {
  return (await failureOf(deployment, servingUri, context))?.reason;
}

/**
 * Returns why the recommendation calls of a check fail or return too few results, or undefined if they succeed.
 * Throws if that is unknown: the credentials are rejected, or the service is overloaded or cannot be reached.
 */
export async function findServingFault(
  { check, qps }: { readonly check: ServingCheck; readonly qps: number },
  servingUri: string | undefined,
  context: { readonly client: Client; readonly clock: Clock },
): Promise<CheckFailure | undefined> {
  const { maxLatencyMs: _, ...timeless } = check;
  return failureOf({ check: timeless, qps }, servingUri, context, (error) => error.status < 500);
}

async function failureOf(
  { check, qps }: CheckedDeployment,
  servingUri: string | undefined,
  { client, clock }: { readonly client: Client; readonly clock: Clock },
  isModelFault: (error: ApiError) => boolean = () => true,
): Promise<CheckFailure | undefined> {
  if (!check) return undefined;
  const { userIds, minResults = 1, maxLatencyMs } = check;
  for (const [index, userId] of userIds.entries()) {
    // Stays within the deployment's qps. Otherwise waiting for its rate limit would count as latency.
    if (index > 0) await clock.sleep(1000 / qps);
    const place = `check.userIds[${index}]`;
    const began = performance.now();
    try {
      const { results } = await recommendItems(
        client,
        { userId, limit: Math.max(minResults, 1) },
        servingUri,
      );
      const tookMs = Math.round(performance.now() - began);
      if (results.length < minResults) {
        const got = `${results.length} result${results.length === 1 ? "" : "s"}`;
        const reason = `the check failed: ${place} got ${got}, but at least ${minResults} are required`;
        return { kind: "few", reason };
      }
      if (maxLatencyMs !== undefined && tookMs > maxLatencyMs) {
        const reason = `the check failed: the response for ${place} took ${tookMs} ms, but the limit is ${maxLatencyMs} ms`;
        return { kind: "slow", reason };
      }
    } catch (error) {
      // Only an error response of the service means that the models are bad. An outage does not.
      if (!(error instanceof ApiError) || [401, 403, 429].includes(error.status) || !isModelFault(error))
        throw error;
      return { kind: "refused", reason: `the check failed: ${place}: ${errorText(error, userId)}` };
    }
  }
  return undefined;
}

/** Describes the error of a call, without the message of the service if that contains the user id. */
function errorText({ message, reason, status, code, requestId }: ApiError, userId: string): string {
  if (!reason.includes(userId)) return message;
  return [status, code, requestId && `(request ${requestId})`].filter(Boolean).join(" ");
}
