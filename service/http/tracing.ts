import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Span } from "../../telemetry/span";
import { formatTraceParent, parseTraceParent } from "../../telemetry/span-context";
import { isTracing, startSpan } from "../../telemetry/tracing";

const spans = new WeakMap<FastifyRequest, Span>();

/** Records calls as spans, which continue the trace of the caller. */
export function traceCalls(app: FastifyInstance): void {
  if (!isTracing()) return;
  app.addHook("onRequest", (request, reply, done) => {
    const { url, config } = request.routeOptions;
    const { operation } = config as { operation?: string };
    const parent = parseTraceParent(request.headers.traceparent);
    // Probes and scrapes of metrics would start a trace every few seconds.
    if (operation === undefined && !parent) return done();
    const span = startSpan(
      {
        // The pattern of the route, because a path may contain ids.
        name: `${request.method} ${url ?? "unknown"}`,
        kind: "server",
        attributes: {
          "http.request.method": request.method,
          "http.route": url,
          "recommender.call": operation,
        },
      },
      parent,
    );
    if (span) spans.set(request, span);
    // The event "close" also occurs if the caller hangs up.
    reply.raw.once("close", () => {
      span?.set({ "http.response.status_code": reply.statusCode });
      if (reply.statusCode >= 500) span?.fail(String(reply.statusCode));
      span?.end();
    });
    done();
  });
}

/** Returns the `traceparent` for work that a call causes, or undefined if the call has no span. */
export function traceParentOf(request: FastifyRequest): string | undefined {
  const span = spans.get(request);
  return span && formatTraceParent(span.context);
}

/** Returns the field that connects a log line to the trace of a call. */
export function traceIdOf(request: FastifyRequest): { readonly traceId?: string } {
  const span = spans.get(request);
  return span ? { traceId: span.context.traceId } : {};
}
