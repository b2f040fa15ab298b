import { isMainThread, type MessagePort, workerData } from "node:worker_threads";
import { carryOut, type Work } from "../algorithms";

/** A step that several threads carry out, and what they count: the next part, those done, those failed. */
export interface Shared {
  readonly work: Work;
  readonly counters: Int32Array;
}

/** Carries out parts of a step until none is left. */
export function takeParts({ work, counters }: Shared, thread: number): void {
  let next = Atomics.add(counters, 0, 1);
  if (next >= work.parts) return;
  const part = carryOut(work, thread);
  for (; next < work.parts; next = Atomics.add(counters, 0, 1)) {
    part(next);
    Atomics.add(counters, 1, 1);
    Atomics.notify(counters, 1);
  }
}

const { thread, port } = (isMainThread ? {} : (workerData ?? {})) as { thread?: number; port?: MessagePort };
if (thread !== undefined)
  port?.on("message", (shared: Shared) => {
    try {
      takeParts(shared, thread);
    } catch {
      Atomics.add(shared.counters, 2, 1);
      Atomics.add(shared.counters, 1, 1);
      Atomics.notify(shared.counters, 1);
    }
  });
