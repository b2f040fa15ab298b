import { type Attributes, type EndedSpan, spanKinds } from "./span";

const failedStatus = 2;

/** Encodes spans as the JSON of an OTLP trace export request. */
export function otlpJson(spans: readonly EndedSpan[], resource: Attributes, version: string): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: "pulumi-recommender", version }, spans: spans.map(spanOf) }],
      },
    ],
  });
}

function spanOf({ context, parentId, name, kind, startMs, endMs, attributes, failed }: EndedSpan): object {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    flags: 1,
    name,
    kind: spanKinds[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributesOf(attributes),
    ...(failed && { status: { code: failedStatus } }),
  };
}

/** Nanoseconds since 1970 do not fit into a number, so OTLP writes them as a text. */
function nanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1e6)));
}

function attributesOf(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: string | number | boolean): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
