import { isMainThread, type MessagePort, parentPort, Worker, workerData } from "node:worker_threads";
import { threadOptions } from "../base/own-file";

/** What helpers are started with: their file, and where it is counted if one ends. */
export interface Watched {
  readonly helper: string;
  readonly lost: Int32Array;
}

/**
 * Starts a helper for each port that it is given, by which the helper is told of steps, and counts those that end: the
 * thread that trains waits for their parts, and would not hear of it.
 */
function watch({ helper: file, lost }: Watched): void {
  let started = 0;
  parentPort?.on("message", (ports: readonly MessagePort[]) => {
    for (const port of ports) {
      started++;
      const helper = new Worker(file, {
        workerData: { thread: started, port },
        transferList: [port],
        ...threadOptions(),
      });
      // Its end follows, and is all that counts.
      helper.on("error", () => {});
      helper.on("exit", () => Atomics.add(lost, 0, 1));
    }
  });
}

if (!isMainThread) watch(workerData as Watched);
