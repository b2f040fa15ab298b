import { setMaxListeners } from "node:events";

const controller = new AbortController();
// Each wait of a run listens to it.
setMaxListeners(0, controller.signal);

/** Is aborted when the engine asks its providers to stop, as it does on Ctrl+C. */
export const cancelled: AbortSignal = controller.signal;

const graceMs = 1000;
const later = new AbortController();
setMaxListeners(0, later.signal);

/** Is aborted a moment after that: what is nearly done may end well, but a service that is away is not waited for. */
export const stopped: AbortSignal = later.signal;

/** Ends all waits; called by the binding when the engine asks to stop. */
export function cancel(): void {
  const reason = new Error("the engine asked to stop");
  controller.abort(reason);
  setTimeout(() => later.abort(reason), graceMs).unref();
}
