import type { Client } from "../client/client";
import { recommendItems, withheldNotice } from "../client/serving";
import { type Input, routes } from "../contract";

const { request } = routes.recommendItemsToUser;

/** Visitors without an id come from web pages. A program recommends to users, so it must name one. */
const recommendToUser = {
  ...routes.recommendItemsToUser,
  request: request.extend({ userId: request.shape.userId.unwrap().describe("Id of the user.") }),
};

/** Lookup functions for programs, and the operation that each one calls. */
export const lookups = {
  getEventDataset: routes.getEventDataset,
  listEventDatasets: routes.listEventDatasets,
  getModel: routes.getModel,
  listModels: routes.listModels,
  getJob: routes.getJob,
  recommend: recommendToUser,
};

/** Arguments of `recommend`. */
export type RecommendArgs = Input<typeof recommendToUser> & {
  /** Address for the project's recommendation calls. Required if several projects serve recommendations. */
  readonly servingUri?: string | undefined;
};

/**
 * Runs a lookup. The client validates the arguments.
 *
 * @param warn called with a warning if the result may be about another project
 */
export async function lookUp(
  client: Client,
  name: keyof typeof lookups,
  args: object,
  warn: (message: string) => unknown,
): Promise<object> {
  if (name !== "recommend") return client.call(lookups[name], args as never) as Promise<object>;
  const { servingUri, ...input } = args as RecommendArgs;
  const result = await recommendItems(client, input, servingUri);
  const notice = withheldNotice(client, servingUri);
  if (notice) await warn(`recommend: ${notice} The items may be those of another project.`);
  return result;
}
