import type { Attributes } from "./span";

/** Decides whether a new trace is recorded. `parent` is undefined for the first span of a trace. */
export type Sampler = (traceId: string, parent: { readonly sampled: boolean } | undefined) => boolean;

/** Settings of the export of spans. */
export interface TraceSettings {
  /** Address to which spans are posted, such as http://localhost:4318/v1/traces. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Time after which waiting spans are sent. */
  readonly delayMs: number;
  /** Attributes of this process, such as `service.name`. */
  readonly resource: Attributes;
  readonly sampler: Sampler;
}

/** The variables that this module reads are defined by the OpenTelemetry specification. */
type Environment = Readonly<Record<string, string | undefined>>;

/** A variable that turns tracing on, with a value that cannot be used. */
export class TraceSettingsError extends Error {}

/**
 * Returns the settings in the standard environment variables, or undefined if tracing is off. It is on if an endpoint is
 * set, or if OTEL_TRACES_EXPORTER is `otlp`.
 */
export function traceSettings(environment: Environment, serviceName: string): TraceSettings | undefined {
  // The specification treats empty variables as unset.
  const get = (name: string) => environment[name]?.trim() || undefined;
  const own = (name: string) => get(`OTEL_EXPORTER_OTLP_TRACES_${name}`) ?? get(`OTEL_EXPORTER_OTLP_${name}`);
  const exporter = get("OTEL_TRACES_EXPORTER") ?? (own("ENDPOINT") ? "otlp" : "none");
  if (get("OTEL_SDK_DISABLED")?.toLowerCase() === "true" || exporter === "none") return undefined;
  if (!exporter.split(",").includes("otlp"))
    throw new TraceSettingsError(`OTEL_TRACES_EXPORTER is ${exporter}. Set it to otlp or none.`);
  const protocol = own("PROTOCOL") ?? "http/json";
  if (protocol === "grpc")
    throw new TraceSettingsError(
      "OTEL_EXPORTER_OTLP_PROTOCOL is grpc, but spans are only sent over HTTP. " +
        "Set it to http/json, and the endpoint to the HTTP port of the collector, usually 4318.",
    );
  return {
    url: endpoint(get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), get("OTEL_EXPORTER_OTLP_ENDPOINT")),
    headers: pairs("OTEL_EXPORTER_OTLP_HEADERS", own("HEADERS")),
    timeoutMs: number("OTEL_EXPORTER_OTLP_TIMEOUT", own("TIMEOUT"), 10_000),
    delayMs: number("OTEL_BSP_SCHEDULE_DELAY", get("OTEL_BSP_SCHEDULE_DELAY"), 5_000),
    resource: {
      "service.name": serviceName,
      ...pairs("OTEL_RESOURCE_ATTRIBUTES", get("OTEL_RESOURCE_ATTRIBUTES")),
      ...(get("OTEL_SERVICE_NAME") && { "service.name": get("OTEL_SERVICE_NAME") }),
    },
    sampler: samplerOf(get("OTEL_TRACES_SAMPLER"), get("OTEL_TRACES_SAMPLER_ARG")),
  };
}

function endpoint(traces: string | undefined, base = "http://localhost:4318"): string {
  const text = traces ?? `${base.replace(/\/+$/, "")}/v1/traces`;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  const name = traces ? "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" : "OTEL_EXPORTER_OTLP_ENDPOINT";
  // The address may contain a password, so it is not repeated.
  throw new TraceSettingsError(`${name} is not an http:// or https:// address.`);
}

/** Parses a list such as `key1=value1,key2=value2`, in which values are percent-encoded. */
function pairs(name: string, list: string | undefined): Record<string, string> {
  const entries = (list ?? "").split(",").filter((entry) => entry.trim() !== "");
  try {
    return Object.fromEntries(
      entries.map((entry) => {
        const at = entry.indexOf("=");
        if (at < 1) throw new Error();
        return [entry.slice(0, at).trim(), decodeURIComponent(entry.slice(at + 1).trim())];
      }),
    );
  } catch {
    throw new TraceSettingsError(
      `${name} must be a list such as key1=value1,key2=value2, with percent-encoded values.`,
    );
  }
}

function number(name: string, text: string | undefined, preset: number): number {
  if (text === undefined) return preset;
  if (/^\d+$/.test(text)) return Number(text);
  throw new TraceSettingsError(`${name} must be a number of milliseconds.`);
}

function samplerOf(name = "parentbased_always_on", argument: string | undefined): Sampler {
  const root = name.replace(/^parentbased_/, "");
  const ratio = root === "always_on" ? 1 : root === "always_off" ? 0 : Number(argument ?? 1);
  if (!/^(parentbased_)?(always_on|always_off|traceidratio)$/.test(name) || !(ratio >= 0 && ratio <= 1))
    throw new TraceSettingsError(
      "OTEL_TRACES_SAMPLER must be always_on, always_off or traceidratio, or one of them after parentbased_, " +
        "and OTEL_TRACES_SAMPLER_ARG a number from 0 to 1.",
    );
  // All processes decide from the same digits of the trace id, so they record the same traces.
  const isRecorded = (traceId: string) => Number.parseInt(traceId.slice(-12), 16) < ratio * 16 ** 12;
  return (traceId, parent) =>
    parent && name.startsWith("parentbased_") ? parent.sampled : isRecorded(traceId);
}
