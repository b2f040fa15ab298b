import { defined } from "../terminal/output";

/** Measurements of a service for all users, since a watch began. */
export interface ServiceFigures {
  /** Number of deployed projects. */
  readonly deployments: number;
  readonly calls: number;
  /** Share of these calls that ended with a status of 500 or more. */
  readonly errors: number;
  /** The 95th percentile is above this. */
  readonly minLatencyMs?: number;
  /** The 95th percentile is at most this. Absent if it is above the largest bound that the service measures. */
  readonly maxLatencyMs?: number;
}

/** Counters of a service at one time. */
interface Counters {
  readonly deployments: number;
  readonly calls: number;
  readonly failed: number;
  /** Number of calls up to each duration in seconds. */
  readonly buckets: ReadonlyMap<number, number>;
}

/** Address of a service, and a key that may read its metrics. */
interface MetricsSource {
  readonly baseUrl: string;
  readonly apiKey: string;
}

const timeoutMs = 5000;

/** Reads the metrics of a service, and compares them with the first reading. */
export class ServiceMetrics {
  #first: Counters | undefined;

  constructor(private readonly source: MetricsSource) {}

  /** Returns undefined if the service has no metrics, or the key may not read them. */
  async read(): Promise<ServiceFigures | undefined> {
    const now = await readCounters(this.source);
    if (!now) return undefined;
    this.#first ??= now;
    // A service that was started again begins at zero.
    if (now.calls < this.#first.calls) this.#first = { ...now, calls: 0, failed: 0, buckets: new Map() };
    const first = this.#first;
    const calls = now.calls - first.calls;
    const { deployments } = now;
    if (calls === 0) return { deployments, calls, errors: 0 };
    const errors = (now.failed - first.failed) / calls;
    return { deployments, calls, errors, ...latencyBounds(now, first, calls) };
  }
}

/** Returns the bounds between which the 95th percentile of the calls since the first reading lies. */
function latencyBounds(now: Counters, first: Counters, calls: number) {
  const bounds = [...now.buckets.keys()].sort((one, other) => one - other);
  const upTo = (bound: number) => (now.buckets.get(bound) ?? 0) - (first.buckets.get(bound) ?? 0);
  const covers = (bound: number) => upTo(bound) >= 0.95 * calls;
  const ms = (seconds: number | undefined) => seconds && Math.round(1e6 * seconds) / 1000;
  return defined({
    minLatencyMs: ms(bounds.findLast((bound) => !covers(bound))),
    maxLatencyMs: ms(bounds.find(covers)),
  });
}

async function readCounters({ baseUrl, apiKey }: MetricsSource): Promise<Counters | undefined> {
  try {
    const url = `${baseUrl.replace(/\/+$/, "")}/metrics`;
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { headers: { apikey: apiKey }, redirect: "manual", signal });
    return response.ok ? parseCounters(await response.text()) : undefined;
  } catch {
    // A watch works without metrics, because it also measures answers itself.
    return undefined;
  }
}

/** Parses the counters of recommendation calls in the Prometheus text format. */
export function parseCounters(text: string): Counters | undefined {
  let [deployments, calls, failed] = [0, 0, 0];
  const buckets = new Map<number, number>();
  for (const [, name = "", labelText = "", valueText] of text.matchAll(/^(\w+)\{([^}]*)\} (\S+)/gm)) {
    const labels = new Map(
      [...labelText.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value] as const),
    );
    const value = Number(valueText);
    if (name === "recommender_deployments") deployments += value;
    if (labels.get("operation") !== "recommendItemsToUser") continue;
    if (name === "recommender_call_duration_seconds_count") {
      calls += value;
      if (Number(labels.get("status")) >= 500) failed += value;
    }
    const bound = Number(labels.get("le"));
    if (name === "recommender_call_duration_seconds_bucket" && Number.isFinite(bound))
      buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  return /^recommender_/m.test(text) ? { deployments, calls, failed, buckets } : undefined;
}
