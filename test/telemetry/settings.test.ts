import { traceSettings } from "../../telemetry/settings";

const on = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };
const settings = (env: object) => traceSettings(env as Record<string, string>, "test");

test.each([
  ["no variable is set", {}],
  ["only the service name is set", { OTEL_SERVICE_NAME: "shop" }],
  ["the endpoint is empty", { OTEL_EXPORTER_OTLP_ENDPOINT: "" }],
  ["the exporter is none", { ...on, OTEL_TRACES_EXPORTER: "none" }],
  ["the SDK is disabled", { ...on, OTEL_SDK_DISABLED: "true" }],
])("tracing is off if %s", (_, env) => {
  expect(settings(env)).toBeUndefined();
});

test("spans are posted to the endpoint, or to the default one if only the exporter is set", () => {
  expect(settings(on)?.url).toBe("http://collector:4318/v1/traces");
  expect(settings({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://one/otlp/" })?.url).toBe(
    "https://one/otlp/v1/traces",
  );
  expect(settings({ OTEL_TRACES_EXPORTER: "otlp" })?.url).toBe("http://localhost:4318/v1/traces");
});

test("variables for traces take precedence over those for all signals", () => {
  const env = {
    ...on,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://traces/in",
    OTEL_EXPORTER_OTLP_HEADERS: "a=1",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "authorization=Bearer%20x%3D,b=2",
    OTEL_EXPORTER_OTLP_TIMEOUT: "1000",
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "2000",
  };
  expect(settings(env)).toMatchObject({
    url: "http://traces/in",
    headers: { authorization: "Bearer x=", b: "2" },
    timeoutMs: 2000,
  });
});

test("the resource has the service name, which the attributes and then the name override", () => {
  expect(settings(on)?.resource).toEqual({ "service.name": "test" });
  const attributes = {
    ...on,
    OTEL_RESOURCE_ATTRIBUTES: "service.name=given,deployment.environment.name=prod%20eu",
  };
  expect(settings(attributes)?.resource).toEqual({
    "service.name": "given",
    "deployment.environment.name": "prod eu",
  });
  expect(settings({ ...attributes, OTEL_SERVICE_NAME: "shop" })?.resource["service.name"]).toBe("shop");
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "me:secret@host" }, "OTEL_EXPORTER_OTLP_ENDPOINT is not an http:// or"],
  [{ ...on, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, "usually 4318"],
  [{ ...on, OTEL_TRACES_EXPORTER: "zipkin" }, "OTEL_TRACES_EXPORTER is zipkin. Set it to otlp or none."],
  [{ ...on, OTEL_EXPORTER_OTLP_HEADERS: "secret" }, "OTEL_EXPORTER_OTLP_HEADERS must be a list"],
  [{ ...on, OTEL_EXPORTER_OTLP_TIMEOUT: "10s" }, "OTEL_EXPORTER_OTLP_TIMEOUT must be a number"],
  [{ ...on, OTEL_TRACES_SAMPLER: "often" }, "OTEL_TRACES_SAMPLER must be"],
  [{ ...on, OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "5" }, "OTEL_TRACES_SAMPLER_ARG"],
])("%j is rejected with a message that names the variable and shows no secret", (env, message) => {
  expect(() => settings(env)).toThrow(message);
  expect(() => settings(env)).not.toThrow("secret");
});

test("the sampler records the given share of traces, and all processes choose the same ones", () => {
  const sampler = settings({ ...on, OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" })
    ?.sampler as (traceId: string, parent: undefined) => boolean;
  const ids = Array.from(
    { length: 4096 },
    (_, n) => `${"5".repeat(20)}${(n * 2 ** 36).toString(16).padStart(12, "0")}`,
  );
  expect(ids.filter((id) => sampler(id, undefined))).toEqual(ids.slice(0, 1024));
});

test("by default a span is recorded if its parent is", () => {
  const sampler = settings(on)?.sampler;
  expect(sampler?.("f".repeat(32), undefined)).toBe(true);
  expect(sampler?.("f".repeat(32), { sampled: false })).toBe(false);
  const never = settings({ ...on, OTEL_TRACES_SAMPLER: "parentbased_always_off" })?.sampler;
  expect(never?.("0".repeat(31).concat("1"), undefined)).toBe(false);
  expect(never?.("f".repeat(32), { sampled: true })).toBe(true);
  expect(
    settings({ ...on, OTEL_TRACES_SAMPLER: "always_off" })?.sampler("f".repeat(32), { sampled: true }),
  ).toBe(false);
});
