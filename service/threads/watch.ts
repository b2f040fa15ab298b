import { isMainThread, type MessagePort, Worker, workerData } from "node:worker_threads";
import { threadOptions } from "../base/own-file";

/** What helpers are started with: their file, the port at which each hears of steps, and where it is counted if one ends. */
export interface Watched {
  readonly helper: string;
  readonly ports: readonly MessagePort[];
  readonly lost: Int32Array;
}

/** Starts helpers, and counts those that end: the thread that trains waits for their parts, and would not hear of it. */
const { helper: file = "", ports = [], lost } = (isMainThread ? {} : (workerData ?? {})) as Partial<Watched>;
ports.forEach((port, at) => {
  const helper = new Worker(file, {
    workerData: { thread: at + 1, port },
    transferList: [port],
    ...threadOptions(),
  });
  // Its end follows, and is all that counts.
  helper.on("error", () => {});
  helper.on("exit", () => lost && Atomics.add(lost, 0, 1));
});
