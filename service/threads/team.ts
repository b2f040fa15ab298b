import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { Team, Work } from "../algorithms";
import { modulePath, threadOptions } from "../base/package-paths";
import { type Shared, takeParts } from "./helper";
import { shareOf, threadsPerTraining } from "./share";
import type { WatchData } from "./watch";

/** Number of multiplications below which one thread finishes a step before another thread could begin. */
const worthSharing = 2e6;

/** How often to check whether a helper thread has failed or ended. */
const checkMs = 100;

/** Helper threads that work on the steps of a training together with the current thread. */
export class ThreadTeam implements Team {
  private watch: Worker | undefined;
  private readonly ports: MessagePort[] = [];
  /** Number of helper threads that have ended. */
  private readonly lost = new Int32Array(new SharedArrayBuffer(4));

  /** Helper threads are started when a step is large enough to share and no other training uses them. */
  constructor(
    readonly size: number,
    private readonly share = shareOf(size),
    private readonly least = worthSharing,
    private readonly helper = modulePath("service/threads/helper"),
  ) {}

  run(work: Work): void {
    const counters = new Int32Array(new SharedArrayBuffer(12));
    const shared = { work, counters, share: this.share };
    if (work.size >= this.least) this.notifyHelpers(shared);
    takeParts(shared, 0);
    // All parts have been taken. Wait for the parts that helper threads are still working on.
    for (;;) {
      const [, done = 0, failed] = counters;
      if (failed) throw new Error("A helper thread of the training failed.");
      if (Atomics.load(this.lost, 0) > 0)
        throw new Error("A helper thread of the training exited unexpectedly.");
      if (done === work.parts) return;
      Atomics.wait(counters, 1, done, checkMs);
    }
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    for (const port of this.ports) port.close();
    await this.watch?.terminate();
  }

  private notifyHelpers(shared: Shared): void {
    const helpers = threadsPerTraining(this.share) - 1;
    if (this.ports.length < helpers) this.start(helpers - this.ports.length);
    for (const port of this.ports.slice(0, helpers)) port.postMessage(shared);
  }

  private start(more: number): void {
    const channels = Array.from({ length: more }, () => new MessageChannel());
    for (const { port1 } of channels) port1.unref();
    this.ports.push(...channels.map(({ port1 }) => port1));
    this.watch ??= new Worker(modulePath("service/threads/watch"), {
      workerData: { helper: this.helper, lost: this.lost } satisfies WatchData,
      ...threadOptions(),
    });
    this.watch.unref();
    const ports = channels.map(({ port2 }) => port2);
    this.watch.postMessage(ports, ports);
  }
}
