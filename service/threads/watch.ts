import { isMainThread, type MessagePort, parentPort, Worker, workerData } from "node:worker_threads";
import { threadOptions } from "../base/package-paths";

/**
 * Worker data of this thread. `helper` is the file of the helper threads, and `lost` counts helper threads that have
 * ended.
 */
export interface WatchData {
  readonly helper: string;
  readonly lost: Int32Array;
}

/**
 * Starts a helper thread for each port in a message, and counts the helpers that end. The training thread blocks while
 * it waits for helpers, so it would not receive their exit events.
 */
function watch({ helper: file, lost }: WatchData): void {
  let started = 0;
  parentPort?.on("message", (ports: readonly MessagePort[]) => {
    for (const port of ports) {
      started++;
      const helper = new Worker(file, {
        workerData: { thread: started, port },
        transferList: [port],
        ...threadOptions(),
      });
      // The exit event follows and counts the helper. Without a listener, the error would end this thread.
      helper.on("error", () => {});
      helper.on("exit", () => Atomics.add(lost, 0, 1));
    }
  });
}

if (!isMainThread) watch(workerData as WatchData);
