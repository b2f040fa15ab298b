import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { extensions, limits } from "../../contract";
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

/** The calls that the specification leaves open: tokens, downloads, and what a developer needs of an emulator. */
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
    // The result shares its origin with the console, and an SVG can hold scripts.
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
  // The id tells a stack whose service has moved that it is the same data; it opens nothing.
  app.get("/healthz", async () => ({
    status: "alive",
    instance_id: context.store.instanceId,
    extensions: extensions.map(({ path }) => path),
  }));
  app.get("/readyz", async (_, reply) => {
    const { ready, ...reasons } = await readiness(context);
    return reply.code(ready ? 200 : 503).send({ status: ready ? "ready" : "not ready", ...reasons });
  });
  app.get("/metrics", async (request, reply) => {
    // Prometheus sends credentials as a bearer token alone.
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
          "Faults are off; start the service with --faults to switch them at run time.",
        );
      }
      if (!isFromThisMachine(request))
        throw new ServiceError("FORBIDDEN", "Faults can be switched from the service's own machine only.");
    },
    handler: async (request) => {
      if (request.method === "PUT") context.faults.set((request.body as Body | undefined)?.json);
      return context.faults.toWire();
    },
  });
}

const forwarding = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

/** A proxy on this machine speaks for others, which its headers name. */
function isFromThisMachine({ ip, headers }: FastifyRequest): boolean {
  return /^(::ffff:)?127\.|^::1$/.test(ip) && !forwarding.some((name) => name in headers);
}
