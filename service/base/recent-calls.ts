import { LRUCache } from "lru-cache";

const minuteMs = 60_000;
const minutesKept = 60;
/** Histogram of response times: each bucket is 10% wider than the one before, from 0.01 ms to five minutes. */
const [leastMs, bucketFactor, buckets] = [0.01, 1.1, 180];
/** Maximum number of projects to count calls for. Each takes 50 kB. */
const mostProjects = 1000;

interface Minute {
  minute: number;
  answered: number;
  refused: number;
  failed: number;
  readonly times: Uint32Array;
}

/** Counts recommendation calls to this process in the last hour by project, which the Prometheus metrics do not. */
export class RecentCalls {
  private readonly kept = new LRUCache<string, Minute[]>({ max: mostProjects });

  constructor(private readonly now: () => number) {}

  /** Counts a call that succeeded, was rate-limited or failed. Ignores other statuses: the project may not exist. */
  count(key: string, status: number, ms: number): void {
    if (status !== 200 && status !== 429 && status < 500) return;
    const minute = this.minuteOf(key);
    if (status === 200) {
      minute.answered++;
      const bucket = Math.floor(Math.log(ms / leastMs) / Math.log(bucketFactor));
      const at = Math.max(0, Math.min(buckets - 1, bucket));
      minute.times[at] = (minute.times[at] as number) + 1;
    } else if (status === 429) minute.refused++;
    else minute.failed++;
  }

  /** Returns the counts per minute and in total, and the p50 and p99 of the response times. */
  of(keys: readonly string[]) {
    const last = Math.floor(this.now() / minuteMs);
    const first = last - minutesKept + 1;
    const found = keys.flatMap((key) => this.kept.peek(key) ?? []).filter(({ minute }) => minute >= first);
    const sum = (part: "answered" | "refused" | "failed", of = found) =>
      of.reduce((total, minute) => total + minute[part], 0);
    const times = new Float64Array(buckets);
    for (const minute of found)
      for (let at = 0; at < buckets; at++) times[at] = (times[at] as number) + (minute.times[at] as number);
    return {
      minutes: Array.from({ length: minutesKept }, (_, at) => {
        const own = found.filter(({ minute }) => minute === first + at);
        return { ts: (first + at) * minuteMs, answered: sum("answered", own), refused: sum("refused", own) };
      }),
      answered: sum("answered"),
      refused: sum("refused"),
      failed: sum("failed"),
      p50Ms: quantile(times, 0.5),
      p99Ms: quantile(times, 0.99),
    };
  }

  private minuteOf(key: string): Minute {
    const now = Math.floor(this.now() / minuteMs);
    let minutes = this.kept.get(key);
    if (!minutes) {
      minutes = [];
      this.kept.set(key, minutes);
    }
    const at = now % minutesKept;
    const known = minutes[at];
    if (known?.minute === now) return known;
    const begun = { minute: now, answered: 0, refused: 0, failed: 0, times: new Uint32Array(buckets) };
    minutes[at] = begun;
    return begun;
  }
}

function quantile(times: Float64Array, share: number): number | null {
  const total = times.reduce((sum, count) => sum + count, 0);
  let below = 0;
  const at = times.findIndex((count) => {
    below += count;
    return below >= share * total;
  });
  return total === 0 ? null : leastMs * bucketFactor ** (at + 1);
}
