import type { FastifyRequest } from "fastify";
import type { RouteName } from "../../contract";
import { scopeGroups } from "../base/scopes";
import { type PublicKey, publicIdIn } from "../store/clients";
import { remember } from "./audit";
import { isFromConsole, visitorOf } from "./console";
import type { ServerContext } from "./context";

/** The operations that a deployment answers. They also have the addresses of deployments, and web pages may use them. */
export const recommending: ReadonlySet<RouteName> = new Set(["recommendItemsToUser", "recommendItemsToItem"]);

/** The public keys of calls from web pages, by request. */
const publicKeys = new WeakMap<FastifyRequest, PublicKey>();

/** Returns the public key that was sent with a call, if it was. */
export function publicKeyIn(request: FastifyRequest): PublicKey | undefined {
  return publicKeys.get(request);
}

/** Checks that the caller may use an operation: by a session of the console, a public key, or a key and a token. */
export async function authorize(
  context: ServerContext,
  request: FastifyRequest,
  path: string,
): Promise<void> {
  remember(request, { client: (await callerOf(context, request, path)).name });
}

async function callerOf(
  context: ServerContext,
  request: FastifyRequest,
  path: string,
): Promise<{ readonly name: string }> {
  if (isFromConsole(request)) return visitorOf(context, request, path);
  const isPublic = publicIdIn(String(request.headers.apikey)) !== undefined;
  if (!isPublic || !scopeGroups.recommend?.includes(path)) return context.tokens.check(request.headers, path);
  const key = await context.publicKeys.check(request);
  publicKeys.set(request, key);
  return key;
}
