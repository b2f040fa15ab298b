import type { Clock } from "../../service";

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
