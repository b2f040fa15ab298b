import { setMaxListeners } from "node:events";

const controller = new AbortController();
// Every wait of a run adds a listener, so the default limit of 10 would log warnings.
setMaxListeners(0, controller.signal);

/** Aborts when the engine cancels its providers, as on Ctrl+C. */
export const cancelled: AbortSignal = controller.signal;

const graceMs = 1000;
const later = new AbortController();
setMaxListeners(0, later.signal);

/** Aborts one second after `cancelled`: calls in flight may finish, but the process does not wait for an unreachable service. */
export const stopped: AbortSignal = later.signal;

/** Ends all waits. The binding calls it when the engine cancels. */
export function cancel(): void {
  const reason = new Error("the run was cancelled");
  controller.abort(reason);
  setTimeout(() => later.abort(reason), graceMs).unref();
}
