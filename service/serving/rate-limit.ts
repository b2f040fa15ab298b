import type { Clock } from "../base/clock";

/** Lets so many calls per second pass, up to one second's worth at once. */
export class RateLimit {
  private tokens: number;
  private last: number;

  constructor(
    readonly qps: number,
    private readonly clock: Clock,
    /** The part of all calls that may pass here; the others pass in other processes. */
    private readonly share: () => number = () => 1,
  ) {
    this.tokens = qps;
    this.last = clock.now();
  }

  /** Lets a call pass with 0, or gives the seconds after which one will. */
  take(): number {
    const now = this.clock.now();
    const qps = this.qps * this.share();
    this.tokens = Math.min(Math.max(1, qps), this.tokens + (Math.max(0, now - this.last) / 1000) * qps);
    this.last = now;
    if (this.tokens < 1) return (1 - this.tokens) / qps;
    this.tokens--;
    return 0;
  }
}
