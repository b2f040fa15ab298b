/** How long one call may block the event loop. */
const blockMs = 5;

/** Creates a function to call in long loops. It lets other calls run after the loop has blocked them for 5 ms. */
export function createYielder(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < blockMs) return undefined;
    return new Promise((resolve) =>
      setImmediate(() => {
        since = performance.now();
        resolve();
      }),
    );
  };
}

/**
 * Runs short synchronous work. If the event loop was blocked for 5 ms, the rest waits for a later turn, so other calls
 * are answered in between.
 */
export class Turns {
  private readonly waiting: (() => void)[] = [];
  private spentMs = 0;
  private isScheduled = false;

  /** Runs work in the order of the calls, in this turn if there is time. */
  run<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.waiting.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
      this.runWaiting();
    });
  }

  private runWaiting(): void {
    while (this.spentMs < blockMs) {
      const next = this.waiting.shift();
      if (!next) break;
      const began = performance.now();
      next();
      this.spentMs += performance.now() - began;
    }
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.spentMs = 0;
      if (this.waiting.length > 0) this.runWaiting();
    });
  }
}
