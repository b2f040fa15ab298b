import type { Dispatcher } from "undici";
import { errorType, type Span } from "../../telemetry/span";
import { formatTraceParent } from "../../telemetry/span-context";
import { isTracing, startSpan } from "../../telemetry/tracing";

/** Records each request of a connection pool as a span, and sends the span's id in the header `traceparent`. */
export function traceRequests(pool: Dispatcher): Dispatcher {
  if (!isTracing()) return pool;
  return pool.compose((dispatch) => (options, handler) => {
    const span = startSpan({
      name: `${options.method} ${pathOf(options)}`,
      kind: "client",
      attributes: { "http.request.method": options.method, ...serverOf(options.origin) },
    });
    if (!span) return dispatch(options, handler);
    const headers = { ...(options.headers as object), traceparent: formatTraceParent(span.context) };
    return dispatch({ ...options, headers }, following(span, handler));
  });
}

/** Returns the path without the query, which may contain a user id or the signature of a download. */
function pathOf({ path }: Dispatcher.DispatchOptions): string {
  return path.split("?")[0] as string;
}

function serverOf(origin: string | URL | undefined) {
  const { hostname, port, protocol } = new URL(String(origin));
  return {
    "server.address": hostname,
    "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
  };
}

/** Wraps a handler of responses. The span ends with the response. */
function following(span: Span, handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  const { DecoratorHandler } = require("undici") as typeof import("undici");
  const inner = new DecoratorHandler(handler) as Required<Dispatcher.DispatchHandler>;
  return {
    onRequestStart: (...given) => inner.onRequestStart(...given),
    onRequestUpgrade: (...given) => inner.onRequestUpgrade(...given),
    onResponseStart(controller, status, ...given) {
      span.set({ "http.response.status_code": status });
      if (status >= 400) span.fail(String(status));
      inner.onResponseStart(controller, status, ...given);
    },
    onResponseData: (...given) => inner.onResponseData(...given),
    onResponseEnd(...given) {
      span.end();
      inner.onResponseEnd(...given);
    },
    onResponseError(controller, error) {
      span.fail(errorType(error));
      span.end();
      inner.onResponseError(controller, error);
    },
  };
}
