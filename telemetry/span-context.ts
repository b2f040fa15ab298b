import { randomBytes } from "node:crypto";

/** Identifies a span across processes, as in the W3C header `traceparent`. */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Whether the spans of this trace are recorded. */
  readonly sampled: boolean;
}

const format = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Parses the header `traceparent`. Returns undefined if it is missing or invalid. */
export function parseTraceParent(header: unknown): SpanContext | undefined {
  const [, traceId, spanId, flags] = format.exec(typeof header === "string" ? header : "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Returns the value of the header `traceparent`. */
export function formatTraceParent({ traceId, spanId, sampled }: SpanContext): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}

/** Returns a random id of the given number of bytes, in hexadecimal digits. */
export function randomId(bytes: 8 | 16): string {
  return randomBytes(bytes).toString("hex");
}
