import { LRUCache } from "lru-cache";
import type { Clock } from "../base/clock";
import { ServiceError } from "../base/error";
import { RateLimit } from "../serving/rate-limit";

/**
 * Counts the calls of many callers. Memory is bounded: above `max` callers, the one whose last call is the longest ago
 * starts again with a full limit.
 */
export class CallerLimits {
  private readonly limits: LRUCache<string, RateLimit>;

  constructor(
    max: number,
    private readonly clock: Clock,
    /** Returns the share of each limit that this process may use. */
    private readonly share: () => number = () => 1,
  ) {
    this.limits = new LRUCache({ max });
  }

  /** Number of callers in memory. */
  get size(): number {
    return this.limits.size;
  }

  /** Counts a call. Throws if the caller has made as many calls as the limit allows. */
  count(caller: string, qps: number, message: string): void {
    const waitSec = this.limitOf(caller, qps).take();
    if (waitSec <= 0) return;
    throw new ServiceError("RATE_LIMITED", `${message} Wait, then try again.`, {
      headers: { "retry-after": String(Math.ceil(waitSec)) },
    });
  }

  private limitOf(caller: string, qps: number): RateLimit {
    const known = this.limits.get(caller);
    if (known?.qps === qps) return known;
    const limit = new RateLimit(qps, this.clock, this.share);
    this.limits.set(caller, limit);
    return limit;
  }
}
