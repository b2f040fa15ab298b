import { type InvokeRequest, InvokeResponse } from "@pulumi/pulumi/proto/provider_pb";
import type { Client } from "../../client/client";
import { unknownKeySentence } from "../../contract/messages";
import { knownFields } from "../lifecycle/arguments";
import { lookUp, lookups } from "../lookups";
import { log } from "../run/engine";
import { seal } from "../run/sealed-value";
import { pluginTypePrefix } from "../run/urn";
import { NotFoundError } from "./failure";
import { fromStruct, toStruct, unsealed } from "./values";

/** Runs a lookup of a program. */
export async function invoke(
  request: InvokeRequest,
  clientHere: () => Promise<Client>,
): Promise<InvokeResponse> {
  const token = request.getTok();
  const name = token.slice(token.lastIndexOf(":") + 1);
  const names = Object.keys(lookups);
  const tokens = names.map((known) => pluginTypePrefix + known);
  if (!tokens.includes(token))
    throw new NotFoundError(`The function ${unknownKeySentence(token, tokens, names)}`);
  const args = knownFields(unsealed(fromStruct(request.getArgs())));
  const reply = new InvokeResponse();
  const warn = (text: string) => log.warn(undefined, text);
  const found = await lookUp(await clientHere(), name as keyof typeof lookups, args, warn);
  reply.setReturn(toStruct(withSecretUrl(found)));
  return reply;
}

/** Marks a download URL as secret, because anyone who has it can download without credentials. */
function withSecretUrl(
  reply: object & { readonly jobResult?: { readonly downloadUrl?: unknown } | null },
): object {
  const { jobResult } = reply;
  if (jobResult?.downloadUrl == null) return reply;
  return { ...reply, jobResult: { ...jobResult, downloadUrl: seal(jobResult.downloadUrl) } };
}
