import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { idempotencyHeader } from "../../contract";
import { renderError, ServiceError } from "../base/error";

/** Responds to malformed or oversized HTTP with the usual error body, although there is no request object yet. */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  refuseRaw(asServiceError(error), socket);
}

/** Writes an error response to a connection that has no response object, and ends the connection. */
export function refuseRaw(refused: ServiceError, socket: Duplex): void {
  const requestId = randomUUID();
  const body = JSON.stringify(renderError(refused, requestId));
  const head = [
    `HTTP/1.1 ${refused.statusCode} ${STATUS_CODES[refused.statusCode]}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    `${idempotencyHeader}: POST`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function asServiceError({ code, message }: NodeJS.ErrnoException): ServiceError {
  if (code === "HPE_HEADER_OVERFLOW") {
    return new ServiceError(
      "HEADERS_TOO_LARGE",
      "The address and headers are larger than 16 kB. Shorten them.",
    );
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new ServiceError("REQUEST_TIMEOUT", "The request did not arrive in time. Send it again.");
  }
  return new ServiceError("BAD_REQUEST", `The request is not HTTP: ${message}.`);
}
