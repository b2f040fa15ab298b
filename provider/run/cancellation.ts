import { setMaxListeners } from "node:events";
import type { Http2Server, IncomingHttpHeaders } from "node:http2";

const controller = new AbortController();
// Each wait of a run listens to it.
setMaxListeners(0, controller.signal);

/** Is aborted when the engine asks its providers to stop, as it does on Ctrl+C. */
export const cancelled: AbortSignal = controller.signal;

const cancelPath = "/pulumirpc.ResourceProvider/Cancel";
const listening = new WeakSet<object>();

/**
 * Listens for the engine's request to stop. The SDK's dynamic provider answers it without telling the code that it
 * runs, and no signal reaches its process; so the request is looked for among those that its server gets. Where that
 * server is not found, waits go on until their jobs are over.
 */
export function listenForCancel(): void {
  for (const server of activeHandles().filter(isHttp2Server)) {
    if (listening.has(server)) continue;
    listening.add(server);
    server.on("stream", (_stream: unknown, headers: IncomingHttpHeaders) => {
      if (headers[":path"] === cancelPath) controller.abort(new Error("the engine asked to stop"));
    });
  }
}

function activeHandles(): readonly object[] {
  return (process as { _getActiveHandles?(): object[] })._getActiveHandles?.() ?? [];
}

function isHttp2Server(handle: object): handle is Http2Server {
  return handle.constructor.name === "Http2Server";
}
