import { once } from "node:events";
import * as threads from "node:worker_threads";

/**
 * States of a thread. No call may begin once the thread is ENDING, which means that it is still in a call, or STOPPED.
 */
const [FREE, IN_CALL, ENDING, STOPPED] = [0, 1, 2, 3];

const states = new WeakMap<threads.Worker, Int32Array>();

/** State of this thread; undefined in a thread that `startThread` did not start, such as the main thread. */
const state = (threads.workerData as { nativeCalls?: Int32Array } | null)?.nativeCalls;

/** Whether this thread may be ended at any time, so its native calls need `uninterrupted`. */
export const canBeEnded = state !== undefined;

/** Starts a thread that can use `uninterrupted`. */
export function startThread(
  file: string,
  { workerData, ...options }: threads.WorkerOptions & { readonly workerData: object },
): threads.Worker {
  const nativeCalls = new Int32Array(new SharedArrayBuffer(4));
  const worker = new threads.Worker(file, { ...options, workerData: { ...workerData, nativeCalls } });
  states.set(worker, nativeCalls);
  return worker;
}

/**
 * Ends a thread, after its current native call if it is in one. libsql aborts the whole process if its thread is
 * terminated during a call.
 */
export async function endThread(worker: threads.Worker): Promise<void> {
  const nativeCalls = states.get(worker);
  if (nativeCalls) {
    stop(nativeCalls);
    const left = Atomics.waitAsync(nativeCalls, 0, ENDING);
    // A thread that fails during the call never leaves it.
    if (left.async) await Promise.race([left.value, once(worker, "exit")]);
  }
  await worker.terminate();
}

/** Makes sure that no call begins any more. */
function stop(nativeCalls: Int32Array): void {
  for (;;) {
    if (Atomics.compareExchange(nativeCalls, 0, FREE, STOPPED) !== IN_CALL) return;
    if (Atomics.compareExchange(nativeCalls, 0, IN_CALL, ENDING) !== FREE) return;
  }
}

/** Makes a native call that must be complete before the thread ends. Calls must not be nested. */
export function uninterrupted<T>(call: () => T): T {
  if (!state) return call();
  if (Atomics.compareExchange(state, 0, FREE, IN_CALL) !== FREE) waitForEnd(state);
  try {
    return call();
  } finally {
    if (Atomics.compareExchange(state, 0, IN_CALL, FREE) !== IN_CALL) {
      Atomics.store(state, 0, STOPPED);
      Atomics.notify(state, 0);
      waitForEnd(state);
    }
  }
}

function waitForEnd(of: Int32Array): never {
  for (;;) Atomics.wait(of, 0, STOPPED);
}
