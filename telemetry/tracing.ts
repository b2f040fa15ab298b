// telemetry/ records what a process does as OpenTelemetry spans. It is off unless the standard environment variables
// turn it on, and then costs one comparison per span.

import { version } from "../package.json";
import type { Exporter } from "./exporter";
import type { Span, SpanStart } from "./span";
import { formatTraceParent, parseTraceParent, randomId, type SpanContext } from "./span-context";
import type { Tracer } from "./tracer";

let tracer: Tracer | undefined;
let exporter: Exporter | undefined;

/** How long a process waits for the collector before it ends or replies. */
const flushMs = 2_000;

/**
 * Turns tracing on if the standard environment variables (OTEL_…) ask for it. Only programs of this package call it:
 * in a program that imports the client, that program decides about tracing.
 * @param options.name default of `service.name`
 * @param options.continues whether spans continue the trace in TRACEPARENT, for processes that another program started
 * @param options.onProblem receives at most one message, when spans cannot be sent
 */
export function enableTracing(options: {
  readonly name: string;
  readonly continues: boolean;
  readonly onProblem: (message: string) => void;
  readonly env?: Readonly<Record<string, string | undefined>>;
}): void {
  const { name, continues, onProblem, env = process.env } = options;
  // Most runs do not set these variables, so the modules of tracing are loaded only when they are needed.
  if (tracer || !Object.keys(env).some((key) => key.startsWith("OTEL_"))) return;
  const { traceSettings, TraceSettingsError } = require("./settings") as typeof import("./settings");
  try {
    const settings = traceSettings(env, name);
    if (!settings) return;
    const { Exporter } = require("./exporter") as typeof import("./exporter");
    const { Tracer } = require("./tracer") as typeof import("./tracer");
    const resource = { ...settings.resource, "service.version": version, "process.pid": process.pid };
    const target = new Exporter({ ...settings, resource }, onProblem);
    exporter = target;
    const origin = continues ? parseTraceParent(env.TRACEPARENT) : undefined;
    tracer = new Tracer(settings.sampler, (span) => target.add(span), origin);
    process.on("beforeExit", () => void flushTracing());
  } catch (error) {
    if (!(error instanceof TraceSettingsError)) throw error;
    onProblem(`Traces are off: ${error.message}`);
  }
}

/** Whether this process records spans. */
export function isTracing(): boolean {
  return tracer !== undefined;
}

/** Sends the spans that have ended. Waits a short time for the collector, unless it has failed before. */
export async function flushTracing(): Promise<void> {
  const wasFailing = exporter?.isFailing;
  const sent = exporter?.flush();
  if (!sent || wasFailing) return;
  const late = new AbortController();
  const { setTimeout: sleep } = await import("node:timers/promises");
  await Promise.race([sent, sleep(flushMs, undefined, { signal: late.signal }).catch(() => {})]);
  late.abort();
}

/** Starts a span, or returns undefined if tracing is off. The caller has to end it. */
export function startSpan(start: SpanStart, parent?: SpanContext): Span | undefined {
  return tracer?.start(start, parent);
}

/** Runs work in a span. The span is undefined if tracing is off. */
export function traced<T>(
  start: SpanStart,
  work: (span?: Span) => Promise<T>,
  parent?: SpanContext,
): Promise<T> {
  return tracer ? tracer.run(tracer.start(start, parent), work) : work();
}

/** Runs work in a span, if it is part of work that has a span. */
export function tracedPart<T>(start: SpanStart, work: () => Promise<T>): Promise<T> {
  return tracer?.active ? tracer.run(tracer.start(start), work) : work();
}

/** Runs work whose spans, also those of other processes, are not recorded, such as frequent polls. */
export function untraced<T>(work: () => T): T {
  if (!tracer) return work();
  const { traceId = randomId(16), spanId = randomId(8) } = tracer.active ?? {};
  return tracer.within({ traceId, spanId, sampled: false }, work);
}

/** Runs work as a part of a span of another process, given by its `traceparent`. */
export function continuing<T>(traceParent: unknown, work: () => T): T {
  const parent = tracer && parseTraceParent(traceParent);
  return tracer && parent ? tracer.within(parent, work) : work();
}

/** Returns the active span, or undefined if there is none. */
export function activeSpan(): SpanContext | undefined {
  return tracer?.active;
}

/** Returns environment variables with which another program continues the trace. */
export function traceEnvironment(): { readonly TRACEPARENT?: string } {
  const active = tracer?.active;
  return active ? { TRACEPARENT: formatTraceParent(active) } : {};
}
