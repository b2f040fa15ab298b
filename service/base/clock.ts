/** Source of time. Tests replace it with a clock that they advance. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms` milliseconds, or when the signal is aborted. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Milliseconds per day. In the history and in charts, days begin at midnight UTC. */
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
