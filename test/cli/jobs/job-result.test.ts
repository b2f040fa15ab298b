import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { downloadResult, fetchResult } from "../../../cli/jobs/job-result";
import type { Job } from "../../../client/job";
import { reply, scriptedServer } from "../../client/server";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "job-result-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

test("a result is downloaded from the bucket to which the service redirects", async () => {
  const bucket = await scriptedServer(reply(200, "one\n", { "content-type": "application/x-ndjson" }));
  const service = await scriptedServer(reply(302, "", { location: `${bucket.url}/stored` }));
  const job = { jobId: "job-1", jobResult: { downloadUrl: `${service.url}/download/job-1` } } as Job;
  const file = join(directory, "result.ndjson");
  await downloadResult(job, file);
  expect(readFileSync(file, "utf8")).toBe("one\n");
  const { type, body } = await fetchResult(job);
  expect([type, body.toString()]).toEqual(["application/x-ndjson", "one\n"]);
  await Promise.all([service.close(), bucket.close()]);
});

test("a result behind too many redirects is an error", async () => {
  const service = await scriptedServer((request, response) =>
    reply(302, "", { location: `${request.path}/next` })(request, response),
  );
  const job = { jobId: "job-1", jobResult: { downloadUrl: `${service.url}/download/job-1` } } as Job;
  await expect(fetchResult(job)).rejects.toThrow(
    "Cannot download the result of job job-1: the server returned 302.",
  );
  await service.close();
});
