// http/ receives calls: it authenticates and decodes them, calls a handler, and encodes the reply or the error.

import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import {
  decode,
  encode,
  idempotencyHeader,
  limits,
  type RouteName,
  routes,
  wireSchema,
} from "../../contract";
import { stableAddress } from "../../contract/origin";
import { disconnectSignal } from "../base/disconnect";
import { renderError, ServiceError, shortened } from "../base/error";
import { applyFault, type CallFault } from "../base/faults";
import { detailsOf, unstorableFields } from "../base/validation";
import { handlers } from "../handlers";
import type { Call, Handler } from "../handlers/handler";
import { envelopes } from "../handlers/record";
import type { Db } from "../store/database";
import { unreachable } from "../store/postgres-errors";
import { auditOf, idsIn, isAudited, remember } from "./audit";
import { Bodies, type Body, tooLarge } from "./body";
import { authorize, publicKeyIn, recommending } from "./caller";
import { createBoundedServer } from "./connections";
import type { ServerContext } from "./context";
import { addPreflight, allowPages } from "./cross-origin";
import { fingerprintOf, type Keyed } from "./idempotency";
import { answerMalformed } from "./malformed";
import { addOwnRoutes } from "./own-routes";
import { traceCalls, traceIdOf, traceParentOf } from "./tracing";

/** Creates the HTTP server with all routes. */
export function createServer(context: ServerContext, touched: () => void): FastifyInstance {
  const app = Fastify({
    bodyLimit: limits.requestBytes,
    trustProxy: context.options.trustedProxies.length > 0 && [...context.options.trustedProxies],
    genReqId: ({ headers }) => givenId(headers["x-request-id"]) ?? randomUUID(),
    exposeHeadRoutes: false,
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => sendError(context, error, request, reply),
    clientErrorHandler: answerMalformed,
    // The contract validates bodies. Loading Fastify's own compilers would take a tenth of the startup time.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    serverFactory: (handle) =>
      createBoundedServer(handle, {
        log: context.log,
        // Otherwise, Node itself would reject a request without a Host header, with an error in a different format.
        http: { requireHostHeader: false },
        keepAliveTimeout: 72_000,
        requestTimeout: 120_000,
        sendTimeoutMs: limits.sendTimeoutMs,
      }),
  });
  const bodies = new Bodies();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", (request: FastifyRequest, payload: Readable) =>
    bodies.readJson(request, payload),
  );
  traceCalls(app);
  app.addHook("onRequest", async (request, reply) => {
    touched();
    reply.headers({ "x-request-id": request.id, [idempotencyHeader]: "POST" });
    if (!isMet(request.headers.expect))
      throw new ServiceError(
        "EXPECTATION_FAILED",
        "The header Expect can only be 100-continue. Leave it out.",
      );
    // Checked in a hook, so an unknown method or path is reported before the body is read.
    if (request.is404) throw unknownRoute(app, request);
  });
  // Fastify measures the time of a call only if there is a listener for its end.
  app.addHook("onResponse", (_request, _reply, done) => done());
  app.addHook("onSend", (request, reply, payload, done) => {
    bodies.release(request);
    // `close` also occurs if the caller hangs up before the response, unlike Fastify's own hook.
    if (reply.raw.closed) recordCall(context, request, reply);
    else reply.raw.once("close", () => recordCall(context, request, reply));
    // Without this, closing the service would wait for callers that keep their connections open.
    if (context.closing.aborted) reply.header("connection", "close");
    done(null, payload);
  });
  app.setErrorHandler((error, request, reply) => sendError(context, error, request, reply));
  if (context.role !== "worker")
    for (const name of Object.keys(routes) as RouteName[]) addRoute(app, context, name, bodies);
  addOwnRoutes(app, context, bodies);
  return app;
}

function noSchemas(): never {
  throw new Error("Routes have no Fastify schema. Describe the route in contract/ instead.");
}

/** Returns the request id that a proxy or the caller sent, if it is safe in a header and in the log. */
function givenId(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && /^[\w.:=+/-]{1,128}$/.test(header) ? header : undefined;
}

function isMet(expectation: string | undefined): boolean {
  return expectation === undefined || expectation.toLowerCase() === "100-continue";
}

/** Injected faults to apply after the call has been executed, by request. */
const late = new WeakMap<FastifyRequest, CallFault>();

/** The project that answers a recommendation call, by request. */
const answering = new WeakMap<FastifyRequest, string>();

function addRoute(app: FastifyInstance, context: ServerContext, name: RouteName, bodies: Bodies): void {
  const route = routes[name];
  const accepted = envelopes[name as keyof typeof envelopes] ?? route.request;
  const schema = wireSchema(accepted);
  const handle = handlers[name] as unknown as Handler<RouteName>;
  const paths = recommending.has(name)
    ? [
        route.path,
        `/serving/:projectId${route.path}`,
        `/serving/stack/:project/:stack/:resource${route.path}`,
      ]
    : [route.path];
  for (const url of paths) {
    if (recommending.has(name)) addPreflight(app, url);
    app.route({
      method: route.method,
      url,
      config: { operation: name },
      bodyLimit: bodyLimitOf(name),
      onRequest: async (request, reply) => {
        if (recommending.has(name)) allowPages(request, reply);
        const fault = context.options.faults ? context.faults.takeForCall(route.path) : undefined;
        if (fault?.after) late.set(request, fault);
        else if (fault) await applyFault(fault, context.clock, () => request.raw.socket.destroy());
        await authorize(context, request, route.path);
        // Everybody can send such calls, so their bodies must not use up the memory for large bodies.
        if (publicKeyIn(request)) bodies.restrict(request, limits.pageBytes);
      },
      handler: async (request, reply) => {
        const body = request.body as Body | undefined;
        const input = check(schema, route.method === "GET" ? request.query : body?.json);
        const keyed = route.repeatable ? undefined : keyOf(request, route.path, body);
        const named = isAudited(name) ? idsIn(input) : {};
        if (isAudited(name)) remember(request, { ids: named });
        const headers = (route.headers && check(route.headers, request.headers)) as Call["headers"];
        const call = callOf(context, request, reply, headers ?? {}, keyed);
        const answer = await handle(decode(accepted, input) as never, call);
        const wire = encode(route.reply, answer as never);
        if (isAudited(name)) remember(request, { ids: { ...named, ...idsIn(wire) } });
        const fault = late.get(request);
        if (fault) await applyFault(fault, context.clock, () => request.raw.socket.destroy());
        return wire;
      },
    });
  }
}

function bodyLimitOf(name: RouteName): number {
  if (name in envelopes) return limits.upsertBytes;
  if (name === "submitRecommendationJob") return limits.recommendationJobBytes;
  return recommending.has(name) ? limits.recommendationBytes : limits.requestBytes;
}

function check(schema: ReturnType<typeof wireSchema>, given: unknown): unknown {
  const parsed = schema.safeParse(given ?? {});
  const details = parsed.success ? unstorableFields(parsed.data as object) : detailsOf(parsed.error, schema);
  if (details.length === 0) return parsed.data;
  throw new ServiceError("BAD_REQUEST", "The request is invalid. See `details`.", {
    details,
  });
}

function keyOf(request: FastifyRequest, path: string, body: Body | undefined): Keyed | undefined {
  const key = request.headers["idempotency-key"];
  if (typeof key !== "string" || key === "") return undefined;
  if (key.length > 255)
    throw new ServiceError(
      "BAD_REQUEST",
      "The Idempotency-Key is longer than 255 characters. Use a shorter one.",
    );
  return { key, fingerprint: fingerprintOf(path, body?.bytes ?? Buffer.alloc(0)) };
}

function callOf(
  context: ServerContext,
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Call["headers"],
  keyed: Keyed | undefined,
): Call {
  const { store, idempotency } = context;
  // Inherits from the context, because copying it took 26 µs per call.
  return Object.assign(Object.create(context) as ServerContext, {
    db: store.db,
    requestId: request.id,
    traceParent: traceParentOf(request),
    headers,
    leaving: () => disconnectSignal(reply.raw),
    addressedProject: (request.params as { projectId?: string }).projectId,
    addressedStack: stackIn(request.params as StackParams),
    publicKey: publicKeyIn(request),
    countFor: (projectId: string) => answering.set(request, projectId),
    write: <T>(work: (db: Db) => Promise<T>) =>
      store.exclusively(async (db) => {
        if (!keyed) return work(db);
        const { reply: kept, replayed } = await idempotency.once(db, keyed, () => work(db));
        if (replayed) reply.header("idempotent-replayed", "true");
        return kept;
      }),
  });
}

interface StackParams {
  readonly project?: string;
  readonly stack?: string;
  readonly resource?: string;
}

function stackIn({ project, stack, resource }: StackParams): string | undefined {
  if (project === undefined || stack === undefined || resource === undefined) return undefined;
  return stableAddress({ project, stack, resource });
}

function unknownRoute(app: FastifyInstance, request: FastifyRequest): ServiceError {
  const url = request.url.split("?")[0] as string;
  const methods = (["GET", "POST", "PUT", "DELETE"] as const).filter((method) =>
    app.findRoute({ method, url }),
  );
  if (methods.length === 0)
    return new ServiceError("NOT_FOUND", `There is no operation at ${shortened(url)}.`);
  const allow = methods.join(", ");
  return new ServiceError("METHOD_NOT_ALLOWED", `${url} takes ${allow}, not ${request.method}.`, {
    headers: { allow },
  });
}

function sendError(
  context: ServerContext,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const refused = asServiceError(error, request);
  if (refused.statusCode >= 500) context.log.error({ err: error, requestId: request.id }, "call failed");
  // If a body is too large, Fastify adds `Connection: close`. Then a client that is still sending could not read the
  // error.
  reply
    .removeHeader("connection")
    .code(refused.statusCode)
    .headers({ "x-request-id": request.id, [idempotencyHeader]: "POST", ...refused.more.headers })
    .send(renderError(refused, request.id));
}

function asServiceError(error: unknown, request: FastifyRequest): ServiceError {
  if (error instanceof ServiceError) return error;
  const lost = unreachable(error);
  if (lost) return lost;
  const { statusCode = 500, message } = error as { statusCode?: number; message?: string };
  if (statusCode === 413) return tooLarge(request.routeOptions.bodyLimit as number);
  if (statusCode === 415)
    return new ServiceError("UNSUPPORTED_MEDIA_TYPE", "Send the body as Content-Type: application/json.");
  if (statusCode >= 400 && statusCode < 500)
    return new ServiceError("BAD_REQUEST", `The request cannot be read: ${message}.`);
  return new ServiceError("INTERNAL", "The service failed. Look for the request id in its log.");
}

/** Logs a call without its query string, which may contain the signature of a download. */
function recordCall(
  { log, metrics, recentCalls }: ServerContext,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { operation = "other" } = request.routeOptions.config as { operation?: string };
  metrics.calls.observe({ operation, status: reply.statusCode }, reply.elapsedTime / 1000);
  const projectId = answering.get(request);
  if (projectId !== undefined) recentCalls.count(projectId, reply.statusCode, reply.elapsedTime);
  log.info(
    {
      requestId: request.id,
      method: request.method,
      path: shortened(request.url.split("?")[0] as string),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 100) / 100,
      ...traceIdOf(request),
      ...auditOf(request, operation),
    },
    "call",
  );
}
