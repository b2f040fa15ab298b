import type { Clock } from "../base/clock";

/** Lets so many calls per second pass, up to one second's worth at once. */
export class RateLimit {
  private tokens: number;
  private last: number;

  constructor(
    readonly qps: number,
    private readonly clock: Clock,
  ) {
    this.tokens = qps;
    this.last = clock.now();
  }

  /** Lets a call pass with 0, or gives the seconds after which one will. */
  take(): number {
    const now = this.clock.now();
    this.tokens = Math.min(this.qps, this.tokens + (Math.max(0, now - this.last) / 1000) * this.qps);
    this.last = now;
    if (this.tokens < 1) return (1 - this.tokens) / this.qps;
    this.tokens--;
    return 0;
  }
}
