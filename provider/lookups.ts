import type { Client } from "../client/client";
import { type RecommendationInput, recommendItems } from "../client/serving";
import { routes } from "../contract";

/** Lookup functions of a program, and the operation that each one calls. */
export const lookups = {
  getEventDataset: routes.getEventDataset,
  listEventDatasets: routes.listEventDatasets,
  getModel: routes.getModel,
  listModels: routes.listModels,
  getJob: routes.getJob,
  recommend: routes.recommendItemsToUser,
};

/** Arguments of `recommend`. */
export type RecommendArgs = RecommendationInput & {
  /** Address for recommendation calls of the project. Required if several projects serve. */
  readonly servingUri?: string | undefined;
};

/** Calls the service. The client validates the arguments. */
export function lookUp(client: Client, name: keyof typeof lookups, args: object): Promise<object> {
  if (name !== "recommend") return client.call(lookups[name], args as never) as Promise<object>;
  const { servingUri, ...input } = args as RecommendArgs;
  return recommendItems(client, input, servingUri);
}
