import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Client, fixedToken } from "../../client/client";
import { routes } from "../../contract";
import {
  activeSpan,
  continuing,
  enableTracing,
  flushTracing,
  isTracing,
  startSpan,
  traced,
  tracedPart,
  traceEnvironment,
  untraced,
} from "../../telemetry/tracing";
import { type ReceivedSpan, Receiver, treeOf } from "./receiver";

let receiver: Receiver;
const problems: string[] = [];
const asked: IncomingMessage["headers"][] = [];
const service = createServer((request, response) => {
  asked.push(request.headers);
  const found = !request.url?.includes("lost");
  response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
  response.end(
    found ? '{"event_datasets":[]}' : '{"error":{"code":"NOT_FOUND","message":"no user u-secret"}}',
  );
});
const call = async (options: { baseUrl?: string } = {}) => {
  const baseUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const client = new Client({ baseUrl, apiKey: "key-secret", token: fixedToken("token-secret") });
  try {
    return await client.call(
      routes.listEventDatasets,
      {},
      options.baseUrl ? { baseUrl: baseUrl + options.baseUrl } : {},
    );
  } finally {
    await client.close();
  }
};

/** Returns the spans that have ended since the last call. */
async function spans(): Promise<ReceivedSpan[]> {
  await flushTracing();
  return receiver.spans.splice(0);
}

beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  receiver = await Receiver.start();
});
afterAll(async () => {
  service.close();
  await receiver.close();
});

test("nothing is recorded or sent unless a program turns tracing on", async () => {
  enableTracing({
    name: "test",
    continues: true,
    onProblem: () => {},
    env: { OTEL_SERVICE_NAME: "only a name" },
  });
  expect(isTracing()).toBe(false);
  expect(startSpan({ name: "span" })).toBeUndefined();
  expect(await traced({ name: "span" }, async (span) => [span, activeSpan(), traceEnvironment()])).toEqual([
    undefined,
    undefined,
    {},
  ]);
  await call();
  expect(asked.splice(0)).toEqual([expect.not.objectContaining({ traceparent: expect.anything() })]);
});

test("an unusable variable leaves tracing off and is reported", () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "nowhere" };
  enableTracing({ name: "test", continues: true, onProblem: (message) => problems.push(message), env });
  expect(isTracing()).toBe(false);
  expect(problems.splice(0)).toEqual([
    "Traces are off: OTEL_EXPORTER_OTLP_ENDPOINT is not an http:// or https:// address.",
  ]);
});

describe("with an endpoint", () => {
  beforeAll(() => {
    enableTracing({
      name: "test",
      continues: true,
      onProblem: (message) => problems.push(message),
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_HEADERS: "x-team=blue",
        TRACEPARENT: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
      },
    });
  });

  test("the first span continues the trace in TRACEPARENT, and requests are below the active span", async () => {
    await traced({ name: "outer" }, () => call());
    const found = await spans();
    expect(treeOf(found)).toBe(["test: outer", "  test: GET /list-event-datasets"].join("\n"));
    expect(found.map(({ traceId }) => traceId)).toEqual(["a".repeat(32), "a".repeat(32)]);
    expect(found.find(({ name }) => name === "outer")?.parentSpanId).toBe("b".repeat(16));
    const request = found.find(({ name }) => name.startsWith("GET"));
    expect(asked.splice(0)[0]?.traceparent).toBe(`00-${"a".repeat(32)}-${request?.spanId}-01`);
    expect(request?.attributes).toEqual({
      "http.request.method": "GET",
      "server.address": "127.0.0.1",
      "server.port": String((service.address() as AddressInfo).port),
      "http.response.status_code": "200",
    });
    expect(receiver.headers.at(-1)).toMatchObject({ "x-team": "blue", "content-type": "application/json" });
  });

  test("a failed call fails its span, without the message and the credentials", async () => {
    await traced({ name: "outer" }, () => call({ baseUrl: "/lost" })).catch(() => {});
    const found = await spans();
    expect(found.map(({ name, failed }) => [name, failed])).toContainEqual([
      "GET /lost/list-event-datasets",
      true,
    ]);
    expect(found.find(({ name }) => name === "outer")).toMatchObject({
      failed: true,
      attributes: { "error.type": "NOT_FOUND" },
    });
    expect(receiver.texts.join()).not.toMatch(/secret/);
    asked.splice(0);
  });

  test("polls are not recorded here, and their requests ask the service not to record them", async () => {
    await traced({ name: "wait" }, () => untraced(() => call()));
    expect((await spans()).map(({ name }) => name)).toEqual(["wait"]);
    expect(asked.splice(0)[0]?.traceparent).toMatch(/-00$/);
  });

  test("work that another process causes continues its trace", async () => {
    const parent = `00-${"c".repeat(32)}-${"d".repeat(16)}-01`;
    await continuing(parent, () =>
      traced({ name: "step" }, async () => tracedPart({ name: "part" }, async () => {})),
    );
    const found = await spans();
    expect(treeOf(found)).toBe("test: step\n  test: part");
    expect(found.find(({ name }) => name === "step")).toMatchObject({
      traceId: "c".repeat(32),
      parentSpanId: "d".repeat(16),
    });
  });

  test("a program that is started continues the trace", async () => {
    const { TRACEPARENT } = await traced({ name: "outer" }, async () => traceEnvironment());
    const [outer] = await spans();
    expect(TRACEPARENT).toBe(`00-${outer?.traceId}-${outer?.spanId}-01`);
  });

  test("times have more than millisecond precision, and a span ends after it began", async () => {
    await traced({ name: "outer" }, async () => {});
    const [outer] = await spans();
    expect(outer && outer.endNs > outer.startNs).toBe(true);
    expect(Math.abs(Number((outer?.startNs ?? 0n) / 1_000_000n) - Date.now())).toBeLessThan(60_000);
  });

  test("a redirect is not followed, because the headers may contain a key", async () => {
    const other = await Receiver.start();
    Object.assign(receiver, { status: 307, location: `${other.url}/v1/traces` });
    startSpan({ name: "redirected" })?.end();
    await flushTracing();
    while (problems.length === 0) await nextTurn();
    Object.assign(receiver, { status: 200, location: undefined });
    expect(problems.splice(0)).toEqual([
      `Cannot send traces to ${receiver.url}/v1/traces: it responds with 307. They are dropped.`,
    ]);
    expect(other.texts).toEqual([]);
    await other.close();
    startSpan({ name: "received" })?.end();
    await flushTracing();
    while (receiver.spans.length === 0) await nextTurn();
    receiver.spans.length = 0;
  });

  test("a collector that fails is reported once, and spans are sent again when it works", async () => {
    receiver.status = 503;
    for (const name of ["one", "two"]) {
      const before = receiver.texts.length;
      startSpan({ name })?.end();
      await flushTracing();
      while (receiver.texts.length === before) await nextTurn();
    }
    expect(problems.splice(0)).toEqual([
      `Cannot send traces to ${receiver.url}/v1/traces: it responds with 503. They are dropped.`,
    ]);
    receiver.status = 200;
    startSpan({ name: "three" })?.end();
    await flushTracing();
    startSpan({ name: "four" })?.end();
    while (receiver.spans.length < 2) await nextTurn();
    expect((await spans()).map(({ name }) => name)).toEqual(["three", "four"]);
    expect(problems).toEqual([]);
  });
});
