import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { ManualClock } from "../manual-clock";
import { Running } from "../running";
import { openShop } from "../shop";

/** Log target that a test can read. */
function kept() {
  const lines: Record<string, unknown>[] = [];
  const log = new Writable({
    write: (line, _, done) => {
      lines.push(JSON.parse(String(line)));
      done();
    },
  });
  return { log, lines };
}

test("closing answers open calls and requeues jobs; the next process runs them under the request id of their call", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "closing-"));
  const clock = new ManualClock();
  const before = kept();
  const api = await Running.start({ dataDir, clock, faults: true, jobDelayMs: 60_000, log: before.log });
  const { projectId, algorithmId } = await openShop(api);
  const { jobId } = await api.call(
    "submitTrainingJob",
    { projectId, algorithmId, name: "interrupted" },
    { headers: { "x-request-id": "proxy-7f3a.1" } },
  );
  while ((await api.call("getJob", { projectId, jobId })).jobStatus !== "RUNNING");

  await api.raw("/faults", {
    method: "PUT",
    headers: { apikey: api.service.key, "content-type": "application/json" },
    body: JSON.stringify({ calls: [{ path: "/list-models", delay_ms: 1000 }], job_delay_ms: 60_000 }),
  });
  const headers = { ...(await api.headers("/list-models")), "x-request-id": "drained" };
  const call = api.raw(`/list-models?project_id=${projectId}`, { headers });
  // The response to this call shows that the service has received the one before.
  while (JSON.stringify((await api.raw("/faults", { headers })).body).includes("list-models"));
  const closed = api.service.close();
  clock.advance(1000);
  const { status, answered } = await call;
  expect({ status, connection: answered.connection }).toEqual({ status: 200, connection: "close" });
  await closed;
  await api.close();
  expect(before.lines).toContainEqual(
    expect.objectContaining({ requestId: "drained", path: "/list-models", status: 200 }),
  );

  const after = kept();
  const next = await Running.start({ dataDir, log: after.log });
  expect(await next.finished(projectId, jobId)).toMatchObject({ jobStatus: "SUCCEED", retryCount: 0 });
  await next.end();
  const told = ({ lines }: typeof before, of: string) =>
    lines.filter(({ requestId }) => requestId === of).map(({ msg, jobId }) => [msg, jobId]);
  expect(told(before, "proxy-7f3a.1")).toEqual([
    ["call", undefined],
    ["job requeued: the service closes", jobId],
  ]);
  expect(told(after, "proxy-7f3a.1")).toEqual([["job succeeded", jobId]]);
  rmSync(dataDir, { recursive: true });
});

test("takes the request id of a proxy if it is a valid id", async () => {
  const api = await Running.start();
  const idOf = async (given: string) =>
    (await api.raw("/healthz", { headers: { "x-request-id": given } })).answered["x-request-id"];
  for (const id of ["4e2c5b1c-8a53-4a3c-9d1c-0c1a4f0e5f10", "Root=1-67891233:abc/DEF+g_h.", "x".repeat(128)])
    expect(await idOf(id)).toBe(id);
  for (const id of ["", "two words", '{"a":1}', "x".repeat(129), "é"])
    expect(await idOf(id)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  await api.end();
});
