import { Exporter } from "../../telemetry/exporter";
import { reply, scriptedServer } from "../client/server";

test("the headers for a collector do not follow a redirect", async () => {
  const elsewhere = await scriptedServer(reply(200));
  const collector = await scriptedServer(reply(307, "", { location: `${elsewhere.url}/v1/traces` }));
  const problems: string[] = [];
  const url = `${collector.url}/v1/traces`;
  const settings = {
    url,
    headers: { "api-key": "secret" },
    timeoutMs: 60_000,
    delayMs: 60_000,
    resource: {},
  };
  const exporter = new Exporter(settings, (message) => problems.push(message));
  const context = { traceId: "1".repeat(32), spanId: "2".repeat(16), sampled: true };
  exporter.add({
    ...{ name: "call", kind: "client", attributes: {}, context, parentId: undefined, failed: false },
    ...{ startMs: 1, endMs: 2 },
  });
  await exporter.flush();
  expect(collector.arrived.map(({ headers }) => headers["api-key"])).toEqual(["secret"]);
  expect(elsewhere.arrived).toEqual([]);
  expect(problems).toEqual([`Cannot send traces to ${url}: it responds with 307. They are dropped.`]);
  await Promise.all([collector.close(), elsewhere.close()]);
});
