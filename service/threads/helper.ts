import { isMainThread, type MessagePort, workerData } from "node:worker_threads";
import { partRunner, type Work } from "../algorithms";
import { partOf, type Share } from "./share";

/** A step that several threads carry out, and what they count: the next part, those done, those failed. */
export interface Shared {
  readonly work: Work;
  readonly counters: Int32Array;
  readonly share: Share;
}

/** Carries out parts of a step until none is left, or until another training has a right to this thread. */
export function takeParts({ work, counters, share }: Shared, thread: number): void {
  const take = () => (thread < partOf(share) ? Atomics.add(counters, 0, 1) : work.parts);
  let next = take();
  if (next >= work.parts) return;
  const runPart = partRunner(work, thread);
  for (; next < work.parts; next = take()) {
    runPart(next);
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
