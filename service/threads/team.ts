import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { Team, Work } from "../algorithms";
import { ownFile, threadOptions } from "../base/own-file";
import { type Shared, takeParts } from "./helper";
import { partOf, shareOf } from "./share";
import type { Watched } from "./watch";

/** Multiplications below which a step is done before another thread has heard of it. */
const worthSharing = 2e6;

/** How often it is checked whether a thread has failed or ended. */
const checkMs = 100;

/** Other threads that help this one: each takes the next part of a step until none is left. */
export class ThreadTeam implements Team {
  private watch: Worker | undefined;
  private readonly ports: MessagePort[] = [];
  /** How many threads have ended. */
  private readonly lost = new Int32Array(new SharedArrayBuffer(4));

  /** The others begin when there is something to share, and when no other training uses them. */
  constructor(
    readonly size: number,
    private readonly share = shareOf(size),
    private readonly least = worthSharing,
    private readonly helper = ownFile("service/threads/helper"),
  ) {}

  run(work: Work): void {
    const counters = new Int32Array(new SharedArrayBuffer(12));
    const shared = { work, counters, share: this.share };
    if (work.size >= this.least) this.tellOthers(shared);
    takeParts(shared, 0);
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

  private tellOthers(shared: Shared): void {
    const others = partOf(this.share) - 1;
    if (this.ports.length < others) this.start(others - this.ports.length);
    for (const port of this.ports.slice(0, others)) port.postMessage(shared);
  }

  private start(more: number): void {
    const channels = Array.from({ length: more }, () => new MessageChannel());
    for (const { port1 } of channels) port1.unref();
    this.ports.push(...channels.map(({ port1 }) => port1));
    this.watch ??= new Worker(ownFile("service/threads/watch"), {
      workerData: { helper: this.helper, lost: this.lost } satisfies Watched,
      ...threadOptions(),
    });
    this.watch.unref();
    const ports = channels.map(({ port2 }) => port2);
    this.watch.postMessage(ports, ports);
  }
}
