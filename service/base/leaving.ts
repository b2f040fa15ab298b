import type { ServerResponse } from "node:http";
import { ServiceError } from "./error";

/** A signal that is aborted when a call is answered or its caller hangs up. */
export function leavingOf(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  const leave = () => left.abort(new ServiceError("BAD_REQUEST", "The caller has left."));
  if (response.closed) leave();
  else response.once("close", leave);
  return left.signal;
}
