import type { Clock } from "../base/clock";

/** How long a walk goes on after its last caller has left. A client that timed out repeats its call sooner. */
const graceMs = 60_000;

interface Walk {
  readonly span: string;
  readonly done: Promise<void>;
  readonly stop: AbortController;
  callers: number;
}

/**
 * Runs long deletions, one at a time for each dataset. A repeated call joins the deletion that it repeats.
 * Without this, each client that times out and repeats its call adds another walk over the whole dataset.
 */
export class Walks {
  private readonly running = new Map<number, Walk>();

  constructor(private readonly clock: Pick<Clock, "wait">) {}

  /**
   * Starts a walk over a dataset, or joins the one over the same span.
   * @param leaving - aborted when the caller no longer waits.
   * @param walk - is told by its signal that no caller is left.
   */
  async join(
    dataset: number,
    span: string,
    leaving: AbortSignal,
    walk: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    for (;;) {
      const running = this.running.get(dataset);
      if (!running) return this.wait(this.start(dataset, span, walk), leaving);
      if (running.span === span && !running.stop.signal.aborted) return this.wait(running, leaving);
      await running.done.catch(() => undefined);
      leaving.throwIfAborted();
    }
  }

  private start(dataset: number, span: string, walk: (signal: AbortSignal) => Promise<void>): Walk {
    const stop = new AbortController();
    const done = walk(stop.signal).finally(() => this.running.delete(dataset));
    const started = { span, done, stop, callers: 0 };
    this.running.set(dataset, started);
    return started;
  }

  private async wait(walk: Walk, leaving: AbortSignal): Promise<void> {
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
      await walk.done;
    } finally {
      over.abort();
      leaving.removeEventListener("abort", leave);
    }
  }
}
