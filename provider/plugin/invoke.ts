import { type InvokeRequest, InvokeResponse } from "@pulumi/pulumi/proto/provider_pb";
import type { Client } from "../../client/client";
import { unknownKey } from "../../contract/words";
import { lookUp, lookups } from "../lookups";
import { NotFoundError } from "./failure";
import { fromStruct, toStruct, unsealed, withoutNull } from "./values";

/** Answers a lookup of a program. */
export async function invoke(
  request: InvokeRequest,
  clientHere: () => Promise<Client>,
): Promise<InvokeResponse> {
  const name = request.getTok().split(":").at(-1) ?? "";
  if (!Object.hasOwn(lookups, name)) {
    const names = Object.keys(lookups);
    throw new NotFoundError(
      `The function ${request.getTok()}: ${unknownKey(name, names)}. They are ${names.join(", ")}.`,
    );
  }
  const args = withoutNull(unsealed(fromStruct(request.getArgs())));
  const reply = new InvokeResponse();
  reply.setReturn(toStruct(await lookUp(await clientHere(), name as keyof typeof lookups, args)));
  return reply;
}
