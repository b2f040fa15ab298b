import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** Histogram buckets in seconds. They cover calls from a cached response to a large upload. */
const callSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Histogram buckets in seconds. They cover jobs from a deployment to a long training run. */
const jobSeconds = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400];

/** Prometheus metrics of this process. */
export class Metrics {
  private readonly registry = new Registry();
  private readonly registers = [this.registry];

  readonly calls = new Histogram({
    name: "recommender_call_duration_seconds",
    help: "Duration of API calls by operation and status.",
    labelNames: ["operation", "status"] as const,
    buckets: callSeconds,
    registers: this.registers,
  });

  readonly jobs = new Histogram({
    name: "recommender_job_duration_seconds",
    help: "Duration of jobs that this process ran, or 0 if their process died, by type and outcome (succeeded, failed, retried, run again).",
    labelNames: ["type", "outcome"] as const,
    buckets: jobSeconds,
    registers: this.registers,
  });

  readonly vectors = new Counter({
    name: "recommender_user_vectors_total",
    help: "User vectors that recommendations needed, by whether they were cached.",
    labelNames: ["kept"] as const,
    registers: this.registers,
  });

  readonly queue = new Gauge({
    name: "recommender_jobs",
    help: "Pending and running jobs by type and status.",
    labelNames: ["type", "status"] as const,
    registers: this.registers,
  });

  readonly deployments = new Gauge({
    name: "recommender_deployments",
    help: "Deployed projects, by whether this process has loaded the latest deployment.",
    labelNames: ["loaded"] as const,
    registers: this.registers,
  });

  readonly contentType = this.registry.contentType;

  /** Returns all metrics as text. Memory and CPU time are measured from the first call on. */
  text(): Promise<string> {
    if (!this.registry.getSingleMetric("process_cpu_seconds_total"))
      collectDefaultMetrics({ register: this.registry });
    return this.registry.metrics();
  }
}
