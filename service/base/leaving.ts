import type { ServerResponse } from "node:http";
import { ServiceError } from "./error";

/** Returns a signal that is aborted when the response is sent or the caller disconnects. */
export function leavingOf(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  const leave = () => left.abort(new ServiceError("BAD_REQUEST", "The caller disconnected."));
  if (response.closed) leave();
  else response.once("close", leave);
  return left.signal;
}
