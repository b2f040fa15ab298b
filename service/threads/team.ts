import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { Team, Work } from "../algorithms";
import { ownFile, threadOptions } from "../base/own-file";
import { type Shared, takeParts } from "./helper";
import type { Watched } from "./watch";

/** Multiplications below which a step is done before another thread has heard of it. */
const worthSharing = 2e6;

/** How often it is checked whether a thread has failed or ended. */
const checkMs = 100;

/** Other threads that help this one: each takes the next part of a step until none is left. */
export class ThreadTeam implements Team {
  private watch: Worker | undefined;
  private ports: readonly MessagePort[] = [];
  /** How many threads have ended. */
  private readonly lost = new Int32Array(new SharedArrayBuffer(4));

  /** The others begin when there is something to share. */
  constructor(
    readonly size: number,
    private readonly least = worthSharing,
    private readonly helper = ownFile("service/threads/helper"),
  ) {}

  run(work: Work): void {
    const counters = new Int32Array(new SharedArrayBuffer(12));
    if (this.size > 1 && work.size >= this.least) this.share({ work, counters });
    takeParts({ work, counters }, 0);
    // Only parts that a helper is at are waited for.
    for (;;) {
      const [, done = 0, failed] = counters;
      if (failed) throw new Error("A thread that helped the training failed.");
      if (Atomics.load(this.lost, 0) > 0)
        throw new Error("A thread that helped the training ended in the midst of it.");
      if (done === work.parts) return;
      Atomics.wait(counters, 1, done, checkMs);
    }
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    for (const port of this.ports) port.close();
    await this.watch?.terminate();
  }

  private share(shared: Shared): void {
    this.watch ??= this.start();
    for (const port of this.ports) port.postMessage(shared);
  }

  private start(): Worker {
    const channels = Array.from({ length: this.size - 1 }, () => new MessageChannel());
    this.ports = channels.map(({ port1 }) => port1);
    for (const port of this.ports) port.unref();
    const ports = channels.map(({ port2 }) => port2);
    const watch = new Worker(ownFile("service/threads/watch"), {
      workerData: { helper: this.helper, ports, lost: this.lost } satisfies Watched,
      transferList: ports,
      ...threadOptions(),
    });
    watch.unref();
    return watch;
  }
}
