import { Worker } from "node:worker_threads";
import type { Team, Work } from "../algorithms";
import { ownFile, threadArguments } from "../base/own-file";
import { type Shared, takeParts } from "./helper";

/** Multiplications below which a step is done before another thread has heard of it. */
const worthSharing = 2e6;

/** How often it is checked whether a thread has failed. */
const checkMs = 1000;

/** Other threads that help this one: each takes the next part of a step until none is left. */
export class ThreadTeam implements Team {
  private readonly helpers: Worker[] = [];

  /** The others begin when there is something to share. */
  constructor(
    readonly size: number,
    private readonly least = worthSharing,
  ) {}

  run(work: Work): void {
    const counters = new Int32Array(new SharedArrayBuffer(12));
    if (this.size > 1 && work.size >= this.least) this.share({ work, counters });
    takeParts({ work, counters }, 0);
    // Only parts that a helper is at are waited for.
    for (;;) {
      const [, done = 0, failed] = counters;
      if (failed) throw new Error("A thread that helped the training failed.");
      if (done === work.parts) return;
      Atomics.wait(counters, 1, done, checkMs);
    }
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await Promise.all(this.helpers.map((helper) => helper.terminate()));
  }

  private share(shared: Shared): void {
    while (this.helpers.length < this.size - 1) {
      const helper = new Worker(ownFile("service/threads/helper"), {
        workerData: { thread: this.helpers.length + 1 },
        execArgv: threadArguments(),
      });
      helper.unref();
      this.helpers.push(helper);
    }
    for (const helper of this.helpers) helper.postMessage(shared);
  }
}
