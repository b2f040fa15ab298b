import { type Input, type Reply, routes } from "../contract";
import { ApiError, type Client, ReplyError } from "./client";

/** What is asked of the recommendation call. */
export type RecommendationInput = Input<typeof routes.recommendItemsToUser>;

/** What the recommendation call answers. */
export type Recommendation = Reply<typeof routes.recommendItemsToUser>;

/**
 * Calls for recommendations where a project serves.
 * The specification does not show how serving_uri and the call's address relate: the call is made under serving_uri,
 * and under the base address where nothing answers it there.
 */
export async function recommendItems(
  client: Client,
  input: RecommendationInput,
  servingUri?: string | null,
): Promise<Recommendation> {
  const path = routes.recommendItemsToUser.path;
  if (!servingUri || !/^https?:/.test(servingUri)) return client.call(routes.recommendItemsToUser, input);
  const baseUrl = servingUri.endsWith(path) ? servingUri.slice(0, -path.length) : servingUri;
  try {
    return await client.call(routes.recommendItemsToUser, input, { baseUrl });
  } catch (error) {
    const nothingThere =
      error instanceof ReplyError || (error instanceof ApiError && [404, 405].includes(error.status));
    if (!nothingThere) throw error;
    return client.call(routes.recommendItemsToUser, input);
  }
}
