import type { Span } from "../../telemetry/span";
import { parseTraceParent } from "../../telemetry/span-context";
import { activeSpan, startSpan, traced } from "../../telemetry/tracing";
import type { Job } from "../store/tables";

/** Runs a job in a span of the trace whose call submitted the job. */
export function traceJob(
  job: Job,
  now: number,
  work: (span: Span | undefined) => Promise<void>,
): Promise<void> {
  const { job_type: type, project_id, id, attempt, created_ts } = job;
  const attributes = {
    "recommender.job.type": type,
    "recommender.job.id": id,
    "recommender.job.attempt": attempt,
    "recommender.job.waited_ms": now - created_ts,
    "recommender.project.id": project_id,
  };
  const { traceParent } = JSON.parse(job.data) as { traceParent?: string };
  return traced({ name: `job ${type}`, kind: "consumer", attributes }, work, parseTraceParent(traceParent));
}

/** Creates a span for each phase of a job, one after the other. A phase ends when the next one begins. */
export function phaseSpans(): { at(phase: string): void; end(): void } {
  // Messages of a thread arrive outside of the job's span.
  const job = activeSpan();
  let phase: string | undefined;
  let span: Span | undefined;
  return {
    at(next) {
      if (!job || next === phase) return;
      span?.end();
      [phase, span] = [next, startSpan({ name: `phase ${next}` }, job)];
    },
    end: () => span?.end(),
  };
}
