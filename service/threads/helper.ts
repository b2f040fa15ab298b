import { isMainThread, type MessagePort, workerData } from "node:worker_threads";
import { partRunner, type Work } from "../algorithms";
import { type Share, threadsPerTraining } from "./share";

/** A step of a training that several threads work on. The counters are: next part, finished parts, failed parts. */
export interface Shared {
  readonly work: Work;
  readonly counters: Int32Array;
  readonly share: Share;
}

/** Runs parts of a step until none is left, or until this thread is needed by another training. */
export function takeParts({ work, counters, share }: Shared, thread: number): void {
  const take = () => (thread < threadsPerTraining(share) ? Atomics.add(counters, 0, 1) : work.parts);
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
