import type { FastifyInstance, FastifyRequest } from "fastify";
import { limits } from "../../contract";
import { ServiceError } from "../base/error";
import { remember } from "./audit";
import { type Body, refusePacked } from "./body";
import type { ServerContext } from "./context";

/** Loads the console's code when it is first needed, so it costs nothing if nobody opens the page. */
const loadConsole = () => import("../console/index.js");

/** Route options for requests without authentication: a small, uncompressed body. */
const smallBody = { bodyLimit: limits.tokenRequestBytes, onRequest: refusePacked };

/** Adds the routes of the web console. */
export function addConsole(app: FastifyInstance, context: ServerContext): void {
  app.post("/console/code", { ...smallBody, config: { operation: "console" } }, async (request, reply) => {
    requireConsole(context);
    const { id, name } = await context.tokens.checkSecret(request.headers, "/status");
    remember(request, { client: name });
    const { write } = ((request.body as Body | undefined)?.json ?? {}) as { write?: unknown };
    reply.header("cache-control", "no-store");
    return (await loadConsole()).newCode(context, id, write === true ? "write" : "read");
  });
  const route = (url: string, method: string[], options: object = {}) =>
    app.route({
      url,
      method,
      config: { operation: "other" },
      ...options,
      handler: async (request, reply) => {
        requireConsole(context);
        return (await loadConsole()).handleRequest(context, request, reply);
      },
    });
  route("/", ["GET"]);
  route("/console/session", ["POST", "DELETE"], smallBody);
  route("/console/*", ["GET", "POST"], {
    // Rejects callers without a session before their body is read.
    onRequest: async (request: FastifyRequest) => {
      if (request.method === "POST") await visitorOf(context, request, "/status");
    },
  });
}

/** Whether a call comes from the console's page, which has a session instead of an API key. */
export function isFromConsole({ headers }: FastifyRequest): boolean {
  return headers["x-console-token"] !== undefined && headers.apikey === undefined;
}

/** Authorizes a call from the page by its session. */
export async function visitorOf(context: ServerContext, request: FastifyRequest, scope: string) {
  requireConsole(context);
  return (await loadConsole()).authorize(context, request, scope);
}

function requireConsole({ options }: ServerContext): void {
  if (options.console) return;
  throw new ServiceError(
    "NOT_FOUND",
    "The console is off, because other machines can reach the service. Start the service with --console to turn it on.",
  );
}
