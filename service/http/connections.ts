import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { limits } from "../../contract";
import { ServiceError } from "../base/error";
import { refuseRaw } from "./malformed";

/** The requests of one connection that have no complete response yet. */
interface Unanswered {
  /** The response being written; no other request of the connection is handled meanwhile. */
  current: ServerResponse | undefined;
  readonly waiting: [IncomingMessage, ServerResponse][];
}

/** Settings for the connections of an HTTP server. */
interface ConnectionOptions {
  readonly http: ServerOptions;
  readonly keepAliveTimeout: number;
  readonly requestTimeout: number;
  /** How long a client may read nothing of a response before its connection is closed. */
  readonly sendTimeoutMs: number;
  readonly log: Pick<Logger, "warn">;
}

/**
 * Creates an HTTP server that handles the requests of a connection one after another.
 * Otherwise, if a client pipelines requests and never reads, all responses are buffered in memory.
 */
export function createBoundedServer(handle: RequestListener, options: ConnectionOptions): Server {
  const { log, sendTimeoutMs } = options;
  const connections = new WeakMap<Duplex, Unanswered>();

  const start = (of: Unanswered, request: IncomingMessage, response: ServerResponse) => {
    of.current = response;
    response.once("close", () => {
      of.current = undefined;
      const next = request.socket.destroyed ? undefined : of.waiting.shift();
      if (next) start(of, ...next);
    });
    handle(request, response);
  };

  const enqueue: RequestListener = (request, response) => {
    const { socket } = request;
    let of = connections.get(socket);
    if (!of) {
      of = { current: undefined, waiting: [] };
      connections.set(socket, of);
    }
    if (!of.current) start(of, request, response);
    // After the connection was closed, requests in the same packet still arrive here.
    else if (socket.destroyed) of.waiting.length = 0;
    else if (of.waiting.length < limits.pipelinedRequests) of.waiting.push([request, response]);
    else {
      log.warn({ address: socket.remoteAddress }, "connection closed: too many unanswered requests");
      of.waiting.length = 0;
      socket.destroy();
    }
  };

  const server = createServer(options.http, enqueue);
  server.keepAliveTimeout = options.keepAliveTimeout;
  server.requestTimeout = options.requestTimeout;
  // Without a listener, Node responds to an unknown `Expect` header itself, without an error body.
  server.on("checkExpectation", enqueue);
  server.on("connect", (_request, socket) => {
    const message = "The service is not a proxy. Send requests directly to its address, without CONNECT.";
    refuseRaw(new ServiceError("METHOD_NOT_ALLOWED", message), socket);
  });
  server.timeout = sendTimeoutMs;
  // Node reports a connection without traffic. It stays open if a long call has nothing to send yet.
  server.on("timeout", (socket) => {
    const isIdle = connections.get(socket)?.current === undefined;
    if (isIdle || socket.writableLength > 0) socket.destroy();
  });
  return server;
}
