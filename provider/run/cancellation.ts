import { setMaxListeners } from "node:events";

const controller = new AbortController();
// Every wait of a run adds a listener, and Node warns about more than 10 by default.
setMaxListeners(0, controller.signal);

/** Aborts when the engine cancels its providers, as on Ctrl+C. */
export const cancelled: AbortSignal = controller.signal;

const graceMs = 1000;
const later = new AbortController();
setMaxListeners(0, later.signal);

/**
 * Aborts one second after `cancelled`: calls in flight may finish, but the process does not wait for an unreachable
 * service.
 */
export const stopped: AbortSignal = later.signal;

/** Ends all waits. The binding calls this when the engine cancels the run. */
export function cancel(): void {
  const reason = new Error("the run was cancelled");
  controller.abort(reason);
  setTimeout(() => later.abort(reason), graceMs).unref();
}
