import type { Clock } from "../base/clock";

/** Limits calls per second, with bursts of up to one second's worth of calls. */
export class RateLimit {
  private tokens: number;
  private last: number;

  constructor(
    readonly qps: number,
    private readonly clock: Clock,
    /** Returns the share of the limit that this process may use. The other processes use the rest. */
    private readonly share: () => number = () => 1,
  ) {
    this.tokens = qps;
    this.last = clock.now();
  }

  /** Counts a call. Returns 0 if it is allowed, otherwise the seconds until the next call will be allowed. */
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
