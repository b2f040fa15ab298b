import type { FastifyInstance, FastifyRequest } from "fastify";
import { limits } from "../../contract";
import { ServiceError } from "../base/error";
import { remember } from "./audit";
import { type Body, refusePacked } from "./body";
import type { ServerContext } from "./context";

/** Loaded when it is first needed: a service that nobody looks at does not pay for it. */
const load = () => import("../console/index.js");

/** For what anybody may send. */
const small = { bodyLimit: limits.tokenRequestBytes, onRequest: refusePacked };

/** The routes of the web page. */
export function addConsole(app: FastifyInstance, context: ServerContext): void {
  app.post("/console/code", { ...small, config: { operation: "console" } }, async (request, reply) => {
    refuseOff(context);
    const { id, name } = await context.tokens.checkSecret(request.headers, "/status");
    remember(request, { client: name });
    const { write } = ((request.body as Body | undefined)?.json ?? {}) as { write?: unknown };
    reply.header("cache-control", "no-store");
    return (await load()).newCode(context, id, write === true ? "write" : "read");
  });
  const route = (url: string, method: string[], options: object = {}) =>
    app.route({
      ...{ url, method, config: { operation: "other" }, ...options },
      handler: async (request, reply) => {
        refuseOff(context);
        return (await load()).answer(context, request, reply);
      },
    });
  route("/", ["GET"]);
  route("/console/session", ["POST", "DELETE"], small);
  route("/console/*", ["GET", "POST"], {
    // Before anything of a body is read.
    onRequest: async (request: FastifyRequest) => {
      if (request.method === "POST") await visitorOf(context, request, "/status");
    },
  });
}

/** Whether a call comes from the console's page, which has a session in place of a key and a token. */
export function isFromConsole({ headers }: FastifyRequest): boolean {
  return headers["x-console-token"] !== undefined && headers.apikey === undefined;
}

/** Who makes a call from the page, if he may. */
export async function visitorOf(context: ServerContext, request: FastifyRequest, scope: string) {
  refuseOff(context);
  return (await load()).callerOf(context, request, scope);
}

function refuseOff({ options }: ServerContext): void {
  if (options.console) return;
  throw new ServiceError(
    "NOT_FOUND",
    "The console is off, because others than this machine can reach the service; start it with --console to switch it on.",
  );
}
