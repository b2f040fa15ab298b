/** Source of time. Tests replace it with a {@link ManualClock}. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms` milliseconds, or when the signal is aborted. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Milliseconds of a day. Days of the history and of charts begin at midnight UTC. */
export const dayMs = 24 * 60 * 60 * 1000;

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done);
    }),
};

/** A clock that stands still until `advance` is called. */
export class ManualClock implements Clock {
  private readonly waits = new Set<{ due: number; done: () => void }>();

  constructor(private time = Date.now()) {}

  now(): number {
    return this.time;
  }

  wait(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted || ms <= 0) return resolve();
      const entry = {
        due: this.time + ms,
        done: () => {
          this.waits.delete(entry);
          signal?.removeEventListener("abort", entry.done);
          resolve();
        },
      };
      this.waits.add(entry);
      signal?.addEventListener("abort", entry.done);
    });
  }

  /** Advances the time and ends the waits that are due. */
  advance(ms: number): void {
    this.time += ms;
    for (const entry of [...this.waits]) if (entry.due <= this.time) entry.done();
  }
}
