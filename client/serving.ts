import { type Input, type Reply, routes } from "../contract";
import { ApiError, type Client, ReplyError } from "./client";
import type { Clock } from "./clock";
import { meansNotServing } from "./error-meaning";
import { isFinal, isForeign } from "./finality";

/** What is asked of the recommendation call. */
export type RecommendationInput = Input<typeof routes.recommendItemsToUser>;

/** What the recommendation call answers. */
export type Recommendation = Reply<typeof routes.recommendItemsToUser>;

/**
 * Calls for recommendations where a project serves.
 * The specification does not show how serving_uri and the call's address relate: the call is sent under serving_uri,
 * and under the base address where nothing answers it there.
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
    const options = { baseUrl, headers, mayBeElsewhere: true };
    return await client.call(routes.recommendItemsToUser, input, options);
  } catch (error) {
    const isElsewhere =
      error instanceof ReplyError ||
      isForeign(error) ||
      (error instanceof ApiError && [404, 405].includes(error.status));
    if (!isElsewhere) throw error;
    return client.call(routes.recommendItemsToUser, input, { headers });
  }
}

/** What is tried of a deployment, as it stands in the state. */
export interface ServingCheck {
  readonly userIds: readonly string[];
  readonly minResults: number;
  readonly maxLatencyMs?: number | undefined;
}

/** Whether a project serves: any answer of the service counts, except one that says that nothing is deployed. */
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

/** A deployment with its check, as the state has it. */
interface CheckedDeployment {
  readonly check?: ServingCheck | undefined;
  readonly qps: number;
}

/** What a check found, in words. `refused`: a call failed; `few`: too few results; `slow`: the answer came too late. */
interface CheckFailure {
  readonly kind: "refused" | "few" | "slow";
  readonly words: string;
}

/**
 * What is wrong with the serving, in words; undefined if the check passes or none is declared.
 * A user goes by the place in the check: the engine keeps the words in the state, and ids of users are personal data.
 */
export async function runCheck(
  deployment: CheckedDeployment,
  servingUri: string | undefined,
  context: { readonly client: Client; readonly clock: Clock },
): Promise<string | undefined> {
  return (await failureOf(deployment, servingUri, context))?.words;
}

/**
 * Why the recommendation calls of a check fail or return too few results; undefined if they succeed.
 * Throws if that cannot be known now: the credentials are refused, or the service is overloaded or cannot be reached.
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
  counts: (error: ApiError) => boolean = () => true,
): Promise<CheckFailure | undefined> {
  if (!check) return undefined;
  const { userIds, minResults = 1, maxLatencyMs } = check;
  for (const [index, userId] of userIds.entries()) {
    // The deployment's own limit of queries per second would be counted as latency.
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
        const words = `the check failed: ${place} got ${got}, at least ${minResults} are asked for`;
        return { kind: "few", words };
      }
      if (maxLatencyMs !== undefined && tookMs > maxLatencyMs) {
        const words = `the check failed: the answer for ${place} took ${tookMs} ms, at most ${maxLatencyMs} are allowed`;
        return { kind: "slow", words };
      }
    } catch (error) {
      // Without a response nothing is known: only a response of the service counts against the models.
      if (!(error instanceof ApiError) || [401, 403, 429].includes(error.status) || !counts(error))
        throw error;
      return { kind: "refused", words: `the check failed: ${place}: ${refusal(error, userId)}` };
    }
  }
  return undefined;
}

/** The refusal of a call for a user; what the service said is left out where it may name the user. */
function refusal({ message, reason, status, code, requestId }: ApiError, userId: string): string {
  if (!reason.includes(userId)) return message;
  return [status, code, requestId && `(request ${requestId})`].filter(Boolean).join(" ");
}
