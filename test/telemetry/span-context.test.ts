import { formatTraceParent, parseTraceParent } from "../../telemetry/span-context";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";

test("a traceparent survives parsing and formatting", () => {
  for (const sampled of [true, false]) {
    const context = { traceId, spanId, sampled };
    expect(parseTraceParent(formatTraceParent(context))).toEqual(context);
  }
});

test("flags and fields of later versions are accepted", () => {
  expect(parseTraceParent(`01-${traceId}-${spanId}-03-more`)).toEqual({ traceId, spanId, sampled: true });
});

test.each([
  undefined,
  "",
  ["a", "b"],
  `00-${traceId}-${spanId}`,
  `ff-${traceId}-${spanId}-01`,
  `00-${"0".repeat(32)}-${spanId}-01`,
  `00-${traceId}-${"0".repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${traceId}-${spanId}-01\r\nx: y`,
])("%j is not a traceparent", (header) => {
  expect(parseTraceParent(header)).toBeUndefined();
});
