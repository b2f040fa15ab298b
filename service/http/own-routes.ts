import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { extensionFields, extensions, limits } from "../../contract";
import { isObject } from "../../contract/field";
import { ServiceError, shortened } from "../base/error";
import { proofOf } from "../base/proof";
import { download } from "../files/download";
import { keyName } from "../store/clients";
import { remember } from "./audit";
import { type Bodies, type Body, refusePacked } from "./body";
import { addConsole } from "./console";
import type { ServerContext } from "./context";
import { OpenApiDocument } from "./openapi";
import { measure, readiness } from "./operations";
import { status } from "./status";

/** Adds routes that are not in the specification, such as tokens, downloads, health, metrics and faults. */
export function addOwnRoutes(app: FastifyInstance, context: ServerContext, bodies: Bodies): void {
  app.register(async (scope) => {
    scope.addContentTypeParser(
      "application/x-www-form-urlencoded",
      (request: FastifyRequest, payload: Readable) => bodies.readForm(request, payload),
    );
    const config = { operation: "token" };
    const options = { bodyLimit: limits.tokenRequestBytes, onRequest: refusePacked, config };
    scope.post("/oauth/token", options, async (request, reply) => {
      const body = (request.body as Body | undefined)?.json;
      const form = isObject(body) ? body : {};
      reply.header("cache-control", "no-store");
      const asker = await context.tokens.askerOf(form, request.headers.authorization);
      remember(request, { client: asker.name, scope: shortened(String(form.scope)) });
      return context.tokens.issue(asker, form);
    });
  });
  if (context.role !== "worker") addConsole(app, context);
  const openApi = new OpenApiDocument();
  app.get("/openapi.json", async (request, reply) => {
    const { bytes, etag } = openApi.at(context.addresses.url);
    reply.headers({ etag, "cache-control": "no-cache" });
    if (request.headers["if-none-match"] === etag) return reply.code(304).send();
    return reply.type("application/json; charset=utf-8").send(bytes);
  });
  app.get("/download/:jobId", async (request, reply) => {
    const { jobId } = request.params as { jobId: string };
    const found = await download(context, jobId, request.query as Record<string, unknown>);
    if ("link" in found) return reply.header("cache-control", "no-store").redirect(found.link);
    // Browsers must not run scripts in an SVG result, because it has the same origin as the console.
    reply.headers({
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
    });
    return reply.type(found.type).header("content-length", found.bytes).send(found.stream);
  });
  app.get("/proof", async (request) => {
    const { challenge } = request.query as { challenge?: unknown };
    const own = { url: context.addresses.localUrl, pid: process.pid };
    return { proof: proofOf(context.secrets.key, own, String(challenge)) };
  });
  app.get("/status", async (request) => {
    await context.tokens.checkSecret(request.headers, "/status");
    return status(context);
  });
  // A stack recognises its data by this id after the service has moved. The id is not a secret.
  app.get("/healthz", async () => ({
    status: "alive",
    instance_id: context.store.instanceId,
    extensions: [...extensions.map(({ path }) => path), ...extensionFields],
  }));
  app.get("/readyz", async (_, reply) => {
    const { ready, ...reasons } = await readiness(context);
    return reply.code(ready ? 200 : 503).send({ status: ready ? "ready" : "not ready", ...reasons });
  });
  app.get("/metrics", async (request, reply) => {
    // Prometheus can only send credentials as a bearer token.
    const [, bearer] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
    await context.tokens.checkSecret({ apikey: request.headers.apikey ?? bearer }, "/metrics");
    return reply.type(context.metrics.contentType).send(await measure(context));
  });
  app.route({
    method: ["GET", "PUT"],
    url: "/faults",
    config: { operation: "faults" },
    onRequest: async (request) => {
      context.tokens.checkKey(request.headers);
      remember(request, { client: keyName });
      if (!context.options.faults) {
        throw new ServiceError(
          "FORBIDDEN",
          "Faults are off. Start the service with --faults to change them at run time.",
        );
      }
      if (!isFromThisMachine(request))
        throw new ServiceError("FORBIDDEN", "Faults can only be changed from the machine of the service.");
    },
    handler: async (request) => {
      if (request.method === "PUT") context.faults.set((request.body as Body | undefined)?.json);
      return context.faults.toWire();
    },
  });
}

const forwarding = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

/**
 * Whether a request comes from this machine. If a local proxy forwarded it from another machine, its headers show that.
 */
function isFromThisMachine({ ip, headers }: FastifyRequest): boolean {
  return /^(::ffff:)?127\.|^::1$/.test(ip) && !forwarding.some((name) => name in headers);
}
