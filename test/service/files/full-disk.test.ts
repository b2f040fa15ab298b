import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, run } from "../process";
import { Caller, type Refusal } from "../running";
import { openShop } from "../shop";

/** Maximum file size. Further writes fail as on a full disk, and no root is needed for it. */
const fileKilobytes = 1024;

/** Starts a service whose files cannot grow further than the limit. */
async function serveLimited(dataDir: string, kilobytes: number | "unlimited", ...options: string[]) {
  const limited = `ulimit -f ${kilobytes}; exec "$0" "$@"`;
  const args = ["-c", limited, process.execPath, command, "serve", "--json", "--data", dataDir, ...options];
  const child = spawn("bash", args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit").then(() => Promise.reject(new Error("the service ended at its start")));
  const [line] = await Promise.race([once(child.stdout, "data"), ended]);
  ended.catch(() => undefined);
  const { url, keyFile } = JSON.parse(String(line));
  return { child, api: new Caller({ url, key: readFileSync(keyFile, "utf8").trim() }) };
}

test("a service that was killed while a job ran starts on a full disk, reads, and resumes the job when there is space", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "full-"));
  // The job runs until the service is killed.
  const first = await serveLimited(dataDir, "unlimited", "--job-delay", "86400000");
  const { projectId, algorithmId, eventDatasetId } = await openShop(first.api);
  const { jobId } = await first.api.call("submitTrainingJob", { projectId, algorithmId, name: "cut off" });
  const statusOf = async (api: Caller) => (await api.call("getJob", { projectId, jobId })).jobStatus;
  while ((await statusOf(first.api)) !== "RUNNING");
  await first.api.close();
  first.child.kill("SIGKILL");
  await once(first.child, "exit");

  // The write-ahead log of the database is longer by now, and its content does not fit into the database.
  const full = await serveLimited(dataDir, 64);
  expect((await full.api.call("listEventDatasets", {})).eventDatasets).toHaveLength(1);
  const event = { eventId: "e", userId: "u", itemId: "i", ts: 1, eventType: "view" };
  await expect(
    full.api.call("upsertDatasetEvents", { eventDatasetId, events: [event] }),
  ).rejects.toMatchObject({ status: 503 });
  await full.api.close();
  full.child.kill();
  await once(full.child, "exit");

  const last = await serveLimited(dataDir, "unlimited");
  while ((await statusOf(last.api)) !== "SUCCEED");
  await last.api.close();
  last.child.kill();
  await once(last.child, "exit");
  rmSync(dataDir, { recursive: true });
});

test("a service that cannot write reports it, keeps answering reads, and stops on SIGTERM", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "full-"));
  const limited = `ulimit -f ${fileKilobytes}; exec "$0" "$@"`;
  const child = spawn(
    "bash",
    ["-c", limited, process.execPath, command, "serve", "--json", "--data", dataDir],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const { url, keyFile } = JSON.parse(String((await once(child.stdout, "data"))[0]));
  const api = new Caller({ url, key: readFileSync(keyFile, "utf8").trim() });
  const { eventDatasetId } = await api.call("createEventDataset", { name: "some", numShards: 10 });
  let acknowledged = 0;
  const upsert = async () => {
    const events = Array.from({ length: 1000 }, (_, at) => ({
      eventId: `e${acknowledged + at}`,
      userId: "u",
      itemId: "i",
      ts: 1,
      eventType: "view",
      attributes: { long: "x".repeat(200) },
    }));
    acknowledged += (await api.call("upsertDatasetEvents", { eventDatasetId, events })).succeedIds.length;
  };
  const refused: Refusal = await (async () => {
    for (;;) await upsert();
  })().catch((error) => error);
  expect(refused).toMatchObject({ status: 503, error: { code: "UNAVAILABLE" } });
  expect(refused.error.message).toContain(`Cannot write to the disk of ${dataDir}`);

  // Enough calls to fill the log too, because each of them adds a line.
  const headers = { ...(await api.headers("/list-event-datasets")), "x-filler": "y" };
  for (let left = 60; left > 0; left--)
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        expect((await api.raw("/list-event-datasets", { headers })).status).toBe(200);
      }),
    );
  await expect(upsert()).rejects.toMatchObject({ status: 503 });
  expect(statSync(join(dataDir, "service.log")).size).toBe(fileKilobytes * 1024);
  const { body } = await api.raw("/status", { headers });
  expect(body.datasets[0].records).toBe(acknowledged);
  await api.close();
  expect(await run("stop", "--data", dataDir)).toMatchObject({ code: 0 });
  rmSync(dataDir, { recursive: true });
});
