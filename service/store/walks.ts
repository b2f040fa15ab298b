import type { Clock } from "../base/clock";

/**
 * How long a walk continues after its last caller has disconnected. A client that timed out repeats its call before
 * that.
 */
const graceMs = 60_000;

interface Walk<T> {
  readonly span: string;
  readonly done: Promise<T>;
  readonly stop: AbortController;
  callers: number;
}

/**
 * Runs long deletions, one at a time over the same rows. A repeated call joins the deletion that it repeats. Otherwise,
 * each client that times out and repeats its call would add another walk over the whole dataset.
 */
export class Walks<T> {
  private readonly running = new Map<string, Walk<T>>();

  constructor(private readonly clock: Pick<Clock, "wait">) {}

  /**
   * Starts a walk, or joins the running one over the same span.
   * @param lane - identifies the rows. Of two walks with the same lane, the second one waits for the first.
   * @param leaving - aborted when the caller disconnects.
   * @param walk - its signal is aborted when no caller is left.
   */
  async join(
    lane: string,
    span: string,
    leaving: AbortSignal,
    walk: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const running = this.running.get(lane);
      if (!running) return this.wait(this.start(lane, span, walk), leaving);
      if (running.span === span && !running.stop.signal.aborted) return this.wait(running, leaving);
      await running.done.catch(() => undefined);
      leaving.throwIfAborted();
    }
  }

  private start(lane: string, span: string, walk: (signal: AbortSignal) => Promise<T>): Walk<T> {
    const stop = new AbortController();
    const done = walk(stop.signal).finally(() => this.running.delete(lane));
    const started = { span, done, stop, callers: 0 };
    this.running.set(lane, started);
    return started;
  }

  private async wait(walk: Walk<T>, leaving: AbortSignal): Promise<T> {
    const over = new AbortController();
    walk.callers++;
    const leave = async () => {
      walk.callers--;
      await this.clock.wait(graceMs, over.signal);
      if (walk.callers === 0) walk.stop.abort();
    };
    if (leaving.aborted) void leave();
    else leaving.addEventListener("abort", leave, { once: true });
    try {
      return await walk.done;
    } finally {
      over.abort();
      leaving.removeEventListener("abort", leave);
    }
  }
}
