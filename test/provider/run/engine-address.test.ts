import { engineAddressIn } from "../../../provider/run/engine";

test.each([
  ["nothing else", ["127.0.0.1:4000"]],
  ["--logflow", ["--logtostderr", "-v=9", "127.0.0.1:4000"]],
  ["--otel-traces", ["--tracing", "tcp://127.0.0.1:5000", "127.0.0.1:4000", "/home/me/shop"]],
  ["--tracing", ["--tracing", "http://zipkin:9411", "127.0.0.1:4000"]],
])("the engine's address is found in the arguments of a provider, with %s", (_, args) => {
  expect(engineAddressIn(args)).toBe("127.0.0.1:4000");
});

test("without an address, no engine has started the process", () => {
  expect(engineAddressIn([])).toBeUndefined();
  expect(engineAddressIn(["--tracing", "tcp://127.0.0.1:5000"])).toBeUndefined();
});
