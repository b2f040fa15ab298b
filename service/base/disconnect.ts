import type { ServerResponse } from "node:http";
import { ServiceError } from "./error";

/** Returns a signal that is aborted when the response is sent or the caller disconnects. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(new ServiceError("BAD_REQUEST", "The caller disconnected."));
  if (response.closed) abort();
  else response.once("close", abort);
  return controller.signal;
}
