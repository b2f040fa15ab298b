import { setMaxListeners } from "node:events";

const controller = new AbortController();
// Each wait of a run listens to it.
setMaxListeners(0, controller.signal);

/** Is aborted when the engine asks its providers to stop, as it does on Ctrl+C. */
export const cancelled: AbortSignal = controller.signal;

/** Ends all waits; called by the carrier when the engine asks to stop. */
export function cancel(): void {
  controller.abort(new Error("the engine asked to stop"));
}
