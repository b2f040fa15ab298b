import type { Client } from "../client/client";
import { type RecommendationInput, recommendItems } from "../client/serving";
import { routes } from "../contract";

/** What a program may ask of the service, by the name of the function, with the operation that answers it. */
export const lookups = {
  getEventDataset: routes.getEventDataset,
  listEventDatasets: routes.listEventDatasets,
  getModel: routes.getModel,
  listModels: routes.listModels,
  getJob: routes.getJob,
  recommend: routes.recommendItemsToUser,
};

/** What is asked of `recommend`. */
export type RecommendArgs = RecommendationInput & {
  /** Address of the project's recommendation service; needed where several projects serve. */
  readonly servingUri?: string | undefined;
};

/** Asks the service; whether the arguments are right, the client finds out. */
export function lookUp(client: Client, name: keyof typeof lookups, args: object): Promise<object> {
  if (name !== "recommend") return client.call(lookups[name], args as never) as Promise<object>;
  const { servingUri, ...input } = args as RecommendArgs;
  return recommendItems(client, input, servingUri);
}
