import { type InvokeRequest, InvokeResponse } from "@pulumi/pulumi/proto/provider_pb";
import type { Client } from "../../client/client";
import { type RecommendationInput, recommendItems } from "../../client/serving";
import { type Route, routes } from "../../contract";
import { unknownKey } from "../../contract/words";
import type { Properties } from "../run/row";
import { NotFoundError } from "./failure";
import { fromStruct, toStruct, unsealed } from "./values";

type Lookup = (client: Client, args: Properties) => Promise<object>;

/** A lookup that is one call; whether its arguments are right, the client finds out. */
const calling =
  (route: Route): Lookup =>
  (client, args) =>
    client.call(route, args as never) as Promise<object>;

/** The lookups by their names. */
const lookups: Readonly<Record<string, Lookup>> = {
  getEventDataset: calling(routes.getEventDataset),
  listEventDatasets: calling(routes.listEventDatasets),
  getModel: calling(routes.getModel),
  listModels: calling(routes.listModels),
  getJob: calling(routes.getJob),
  recommend: (client, { servingUri, ...input }) =>
    recommendItems(client, input as unknown as RecommendationInput, servingUri as string | undefined),
};

/** Answers a lookup of a program. */
export async function invoke(
  request: InvokeRequest,
  clientHere: () => Promise<Client>,
): Promise<InvokeResponse> {
  const name = request.getTok().split(":").at(-1) ?? "";
  const lookup = lookups[name];
  if (!lookup) {
    const names = Object.keys(lookups);
    throw new NotFoundError(
      `The function ${request.getTok()}: ${unknownKey(name, names)}. They are ${names.join(", ")}.`,
    );
  }
  const args = Object.entries(unsealed(fromStruct(request.getArgs()))).filter(([, value]) => value !== null);
  const reply = new InvokeResponse();
  reply.setReturn(toStruct(await lookup(await clientHere(), Object.fromEntries(args))));
  return reply;
}
