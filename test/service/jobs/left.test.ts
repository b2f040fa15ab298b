import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Running } from "../running";
import { openShop } from "../shop";

test("logs and counts the jobs of a killed process as retried or failed", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "left-"));
  const former = await Running.start({ dataDir });
  const { projectId, algorithmId } = await openShop(former);
  const submit = async (name: string) => {
    const headers = { "x-request-id": `request of ${name}`.replaceAll(" ", "-") };
    const input = { projectId, algorithmId, name };
    return (await former.call("submitTrainingJob", input, { headers })).jobId;
  };
  const [first, last] = [await submit("first"), await submit("last")];
  await former.service.idle();
  await former.end();
  // The state after a process was killed during the first attempt of one job and the last of the other.
  await former.ask(
    `update jobs set status = 'RUNNING', finished_ts = null, result = null, lease_ts = 0,
      retry_count = case when id = '${last}' then 3 else 0 end`,
  );

  const lines: Record<string, unknown>[] = [];
  const api = await Running.start({ dataDir, log: { write: (line) => void lines.push(JSON.parse(line)) } });
  expect(await api.finished(projectId, first)).toMatchObject({ jobStatus: "SUCCEED", retryCount: 1 });
  const message =
    "The process that ran the job was killed, or sent no heartbeat for too long, " +
    "in the last of its 4 tries. Submit it again.";
  expect(await api.finished(projectId, last)).toMatchObject({ jobStatus: "FAILED", jobResult: { message } });
  const of = (jobId: string) => lines.filter((line) => line.jobId === jobId);
  const about = { projectId, jobType: "TRAINING" };
  expect(of(first)).toMatchObject([
    {
      ...about,
      requestId: "request-of-first",
      msg: "job will be retried",
      err: { message: expect.stringContaining("was killed") },
    },
    { ...about, requestId: "request-of-first", msg: "job succeeded" },
  ]);
  expect(of(last)).toMatchObject([
    { ...about, requestId: "request-of-last", msg: "job failed", err: { message } },
  ]);
  const { text } = await api.raw("/metrics", { headers: { apikey: api.service.key } });
  for (const outcome of ["retried", "failed", "succeeded"])
    expect(text).toContain(
      `recommender_job_duration_seconds_count{type="TRAINING",outcome="${outcome}"} 1\n`,
    );
  await api.end();
  rmSync(dataDir, { recursive: true });
});
