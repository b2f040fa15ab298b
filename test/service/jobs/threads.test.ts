import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { testInDirectory } from "../database";
import { ManualClock } from "../manual-clock";
import { serve } from "../process";
import { Caller, Running } from "../running";
import { deploy, openShop, shopRecords, trainModel } from "../shop";
import { eventually, openWatched, settled } from "./watched";

/** Only Linux reports the CPU time of each thread. */
const testOnLinux: typeof testInDirectory = process.platform === "linux" ? testInDirectory : () => undefined;

/** Returns the CPU time of each thread of a process, in hundredths of a second. */
function ticksOf(pid: number): Map<string, number> {
  const directory = `/proc/${pid}/task`;
  const ticks = (thread: string) => {
    // The fields follow the last bracket. The process name before it may contain spaces.
    const [, fields = ""] = /.*\) (.*)/s.exec(readFileSync(join(directory, thread, "stat"), "utf8")) ?? [];
    const [user, system] = fields.split(" ").slice(11);
    return Number(user) + Number(system);
  };
  return new Map(readdirSync(directory).map((thread) => [thread, ticks(thread)]));
}

/** Cleanup after a failed test. */
const ends: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(ends.splice(0).map((end) => end())));

describe("threads", () => {
  test("are few at a start with many deployments, load all of them, and end when idle", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "threads-"));
    const first = await Running.start({ dataDir });
    const shop = await openShop(first);
    const { userDatasetId, itemDatasetId, eventDatasetId } = shop;
    const projects = [];
    for (const name of ["a", "b", "c", "d", "e"]) {
      const fields = { name, userDatasetId, itemDatasetId, eventDatasetId, targetEventType: "purchase" };
      const { projectId } = await first.call("createProject", fields);
      const algorithmParameters = { dimensions: 2, regularization: 0.1, alpha: 0.3, epochs: 1 };
      const { algorithmId } = await first.call("createAlgorithm", { projectId, name, algorithmParameters });
      await deploy(first, projectId, await trainModel(first, { projectId, algorithmId }));
      projects.push(projectId);
    }
    await first.end();

    const clock = new ManualClock();
    const api = await Running.start({ dataDir, clock });
    const status = async () => (await api.raw("/status", { headers: { apikey: api.service.key } })).body;
    expect((await status()).threads).toBe(1);
    for (const projectId of projects) {
      const base = `${api.service.url}/serving/${projectId}`;
      const { results } = await api.call("recommendItemsToUser", { userId: "u1" }, { base });
      expect(results).toHaveLength(10);
      expect((await status()).threads).toBe(1);
    }
    clock.advance(60_000);
    await eventually(async () => (await status()).threads === 0);
    await api.end();
    rmSync(dataDir, { recursive: true });
  });

  test("of queries are separate from those of deployments", async () => {
    const { api, shop, read, end } = await openWatched();
    const { projectId } = shop;
    const modelId = await trainModel(api, shop);
    const distribution = { attribute: "genre", value: "drama", bins: 1000 };
    // Enough queries that most are still pending when the deployment ends, unless it has to wait for them.
    let last = "";
    for (let count = 0; count < 30; count++) {
      const { jobId } = await api.call("submitQueryingJob", {
        projectId,
        modelId,
        name: `query ${count}`,
        queryType: "user_distribution",
        queries: Array.from({ length: 100 }, () => distribution),
      });
      last = jobId;
    }
    const { jobId } = await api.call("submitDeploymentJob", {
      projectId,
      name: "live",
      generatorModelId: modelId,
    });
    await eventually(async () => (await read(jobId)).jobStatus === "SUCCEED");
    expect((await read(last)).jobStatus).not.toBe("SUCCEED");
    await end();
  });

  /** Submits long trainings. With the most dimensions, they never end. */
  const trainings = async (
    api: Caller,
    { projectId }: { projectId: string },
    { dimensions = 512 }: { dimensions?: number } = {},
  ) => {
    const algorithmParameters = { dimensions, regularization: 0.1, alpha: 0.3, epochs: 200 };
    const fields = { projectId, name: "endless", algorithmParameters };
    const { algorithmId } = await api.call("createAlgorithm", fields);
    return async () =>
      (await api.call("submitTrainingJob", { projectId, algorithmId, name: "endless" })).jobId;
  };

  test("are shared by at most half as many trainings, with any number of cores", async () => {
    const watched = await openWatched({ threads: 4 });
    const submit = await trainings(watched.api, watched.shop);
    const jobs = [await submit(), await submit(), await submit()];
    await eventually(async () => (await watched.threads()) === 2);
    await settled();
    const states = await Promise.all(jobs.map(async (id) => (await watched.read(id)).jobStatus));
    expect([states.sort(), await watched.threads()]).toEqual([["PENDING", "RUNNING", "RUNNING"], 2]);
    await watched.end();
  });

  testOnLinux("for training are all used by a single training, and not exceeded by three", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "threads-"));
    const service = await serve("--data", dataDir, "--threads", "6");
    ends.push(() => service.end());
    const pid = Number(service.child.pid);
    const api = new Caller(service);
    // Large enough that helper threads are used.
    const shop = await openShop(api, shopRecords({ users: 1000, items: 1000, perUser: 30 }));
    const submit = await trainings(api, shop, { dimensions: 64 });
    const read = (jobId: string) => api.call("getJob", { projectId: shop.projectId, jobId });
    const isTraining = async (jobId: string) => {
      const { phase, fraction } = (await read(jobId)).jobData?.progress ?? {};
      return phase === "train" || (phase === "search" && Number(fraction) > 0);
    };
    // Threads of the garbage collector.
    const own = new Set(ticksOf(pid).keys());
    /** Returns how many threads worked on trainings; undefined unless `running` trainings ran all the time. */
    const computing = async (running: number) => {
      const before = ticksOf(pid);
      const which = async () => {
        const states = await Promise.all(jobs.map(isTraining));
        return jobs.filter((_, at) => states[at]).join();
      };
      const first = await which();
      await sleep(3000);
      const after = [...ticksOf(pid)];
      if (first.split(",").length !== running || first !== (await which())) return undefined;
      const worked = after.filter(([id]) => !own.has(id)).map(([id, ticks]) => ticks - (before.get(id) ?? 0));
      // Threads that only start, end or watch others use little CPU time.
      return worked.filter((ticks) => ticks * 10 >= Math.max(...worked, 20)).length;
    };
    const jobs = [await submit()];
    await eventually(async () => (await computing(1)) === 6);
    for (let more = 0; more < 8; more++) jobs.push(await submit());
    const counts: number[] = [];
    while (counts.length < 3) counts.push(...[(await computing(3)) ?? []].flat());
    // Helpers may have started during the first measurement.
    for (const count of counts.slice(1)) {
      expect(count).toBeLessThanOrEqual(6);
      expect(count).toBeGreaterThan(3);
    }
    await api.close();
    await ends.pop()?.();
    rmSync(dataDir, { recursive: true });
  });

  test("that take too long are ended, and the job has the reason", async () => {
    const watched = await openWatched();
    const { clock, api, submit, read, threads, end } = watched;
    const jobId = await (await trainings(api, watched.shop))();
    await eventually(async () => (await threads()) === 1);
    clock.advance(299 * 60_000);
    api.forgetTokens();
    await settled();
    expect(await read(jobId)).toMatchObject({ jobStatus: "RUNNING" });
    clock.advance(60_000);
    await eventually(async () => (await read(jobId)).jobStatus === "FAILED");
    expect(await read(jobId)).toMatchObject({
      retryCount: 0,
      jobResult: { message: expect.stringContaining("ended after 300 minutes") },
    });
    const next = await submit("next");
    await eventually(async () => (await read(next)).jobStatus === "SUCCEED");
    await end();
  });
});
