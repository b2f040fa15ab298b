import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** Seconds from an answer out of memory to a large upload. */
const callSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Seconds from a deployment to a long training. */
const jobSeconds = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400];

/** What a process counts and measures of itself, for Prometheus. */
export class Metrics {
  private readonly registry = new Registry();
  private readonly registers = [this.registry];

  /** Calls by operation and status, with how long they took. */
  readonly calls = new Histogram({
    name: "recommender_call_duration_seconds",
    help: "Calls of the API by operation and status.",
    labelNames: ["operation", "status"] as const,
    buckets: callSeconds,
    registers: this.registers,
  });

  /** Jobs that ended, by kind and outcome, with how long they ran. */
  readonly jobs = new Histogram({
    name: "recommender_job_duration_seconds",
    help: "Jobs that this process has run, or has found left by one that is gone, by kind and outcome (succeeded, failed, retried, run again).",
    labelNames: ["type", "outcome"] as const,
    buckets: jobSeconds,
    registers: this.registers,
  });

  /** Vectors of users that recommendations needed, by whether they were at hand. */
  readonly vectors = new Counter({
    name: "recommender_user_vectors_total",
    help: "Vectors of users that recommendations needed, by whether they were kept from before.",
    labelNames: ["kept"] as const,
    registers: this.registers,
  });

  /** Jobs that wait or run. */
  readonly queue = new Gauge({
    name: "recommender_jobs",
    help: "Jobs in the queue by kind and status.",
    labelNames: ["type", "status"] as const,
    registers: this.registers,
  });

  /** Projects that are deployed. */
  readonly deployments = new Gauge({
    name: "recommender_deployments",
    help: "Deployed projects, by whether this process answers with what was deployed last.",
    labelNames: ["loaded"] as const,
    registers: this.registers,
  });

  readonly contentType = this.registry.contentType;

  /** All of it as text. The process's own memory and CPU time are measured from the first call on. */
  text(): Promise<string> {
    if (!this.registry.getSingleMetric("process_cpu_seconds_total"))
      collectDefaultMetrics({ register: this.registry });
    return this.registry.metrics();
  }
}
