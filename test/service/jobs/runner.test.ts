import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { folderAt, ManualClock, type StartOptions } from "../../../service";
import { connect, openStore } from "../../../service/store/database";
import { renew, take } from "../../../service/store/queue";
import { allowance, refusal, testInFolder } from "../database";
import { Running } from "../running";
import { deploy, openShop, trainModel } from "../shop";

const pollMs = 5000;

/** A shop whose service goes by a clock that stands still, and a second way into its database. */
async function openWatched(options: StartOptions = {}) {
  const clock = new ManualClock();
  const api = await Running.start({ clock, faults: true, ...options });
  const shop = await openShop(api);
  const { projectId, algorithmId } = shop;
  return {
    api,
    clock,
    shop,
    submit: async (name: string) =>
      (await api.call("submitTrainingJob", { projectId, algorithmId, name })).jobId,
    read: (jobId: string) => api.call("getJob", { projectId, jobId }),
    switchOn: (faults: object) =>
      api.raw("/faults", {
        method: "PUT",
        headers: { apikey: api.service.key, "content-type": "application/json" },
        body: JSON.stringify(faults),
      }),
    threads: async () =>
      (await api.raw("/status", { headers: { apikey: api.service.key } })).body.threads as number,
    end: () => api.end(),
  };
}

/** Looks until it holds, for as long as a loaded machine may need. */
async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (const until = Date.now() + 60_000; !(await holds()); ) {
    if (Date.now() > until) throw new Error("it never came to be");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Gives all that is under way its turn. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 200));

describe("the queue", () => {
  let watched: Awaited<ReturnType<typeof openWatched>>;
  beforeAll(async () => {
    watched = await openWatched({ retryDelayMs: 1000 });
  });
  afterEach(() => watched.switchOn({}));
  afterAll(() => watched.end());

  test("outlives a database that refuses to have a job claimed, and goes on when it no longer does", async () => {
    const { api, clock, submit, read } = watched;
    await api.ask(refusal("new.status = 'RUNNING'"));
    const jobId = await submit("claimed late");
    await settled();
    expect(await read(jobId)).toMatchObject({ jobStatus: "PENDING" });
    await api.ask(allowance);
    await eventually(async () => {
      clock.advance(pollMs);
      return (await read(jobId)).jobStatus === "SUCCEED";
    });
    await api.service.idle();
  });

  test("outlives a database that refuses the end of a job, and writes it when it no longer does", async () => {
    const { api, clock, submit, read, switchOn } = watched;
    await switchOn({ jobs: [{ name: "ends late", message: "bad luck" }] });
    await api.ask(refusal("new.retry_count > 0"));
    const jobId = await submit("ends late");
    await eventually(async () => (await read(jobId)).jobStatus === "RUNNING");
    await settled();
    expect(await read(jobId)).toMatchObject({ jobStatus: "RUNNING", retryCount: 0 });
    await api.ask(allowance);
    await eventually(async () => {
      clock.advance(pollMs);
      return (await read(jobId)).retryCount === 1;
    });
    await eventually(async () => {
      clock.advance(pollMs);
      return (await read(jobId)).jobStatus === "SUCCEED";
    });
  });

  test("finds a job although nobody called wake", async () => {
    const { api, clock, submit, read } = watched;
    const jobId = await submit("untold");
    await api.service.idle();
    await api.ask(
      `update jobs set status = 'PENDING', result = null, finished_ts = null where id = '${jobId}'`,
    );
    await settled();
    expect(await read(jobId)).toMatchObject({ jobStatus: "PENDING" });
    clock.advance(pollMs);
    await eventually(async () => (await read(jobId)).jobStatus === "SUCCEED");
  });

  // Over PostgreSQL its clock counts, which nobody can move: test/service/lease.test.ts.
  testInFolder("waits before it tries a failed job again, each time longer", async () => {
    const { clock, submit, read, switchOn } = watched;
    await switchOn({ jobs: [{ name: "flaky", times: 2 }] });
    const jobId = await submit("flaky");
    await eventually(async () => (await read(jobId)).retryCount === 1);
    clock.advance(999);
    await settled();
    expect(await read(jobId)).toMatchObject({ jobStatus: "PENDING", retryCount: 1 });
    clock.advance(1);
    await eventually(async () => (await read(jobId)).retryCount === 2);
    clock.advance(3999);
    await settled();
    expect(await read(jobId)).toMatchObject({ jobStatus: "PENDING", retryCount: 2 });
    clock.advance(1);
    await eventually(async () => (await read(jobId)).jobStatus === "SUCCEED");
  });
});

describe("threads", () => {
  test("are few at a start with many deployments, do all of them, and end when there is nothing to do", async () => {
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

  test("of queries are not those of deployments", async () => {
    const { api, shop, read, end } = await openWatched();
    const { projectId } = shop;
    const modelId = await trainModel(api, shop);
    const distribution = { attribute: "genre", value: "drama", bins: 1000 };
    // Enough of them that the last is still far off when the deployment ends, unless that waits its turn behind them.
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

  /** Training jobs that take for ever. */
  const endless = async ({ api, shop: { projectId } }: Awaited<ReturnType<typeof openWatched>>) => {
    const algorithmParameters = { dimensions: 512, regularization: 0.1, alpha: 0.3, epochs: 200 };
    const fields = { projectId, name: "endless", algorithmParameters };
    const { algorithmId } = await api.call("createAlgorithm", fields);
    return async () =>
      (await api.call("submitTrainingJob", { projectId, algorithmId, name: "endless" })).jobId;
  };

  test("are shared by as many trainings as have two each, whatever the machine has", async () => {
    const watched = await openWatched({ threads: 4 });
    const submit = await endless(watched);
    const jobs = [await submit(), await submit(), await submit()];
    await eventually(async () => (await watched.threads()) === 2);
    await settled();
    const states = await Promise.all(jobs.map(async (id) => (await watched.read(id)).jobStatus));
    expect([states.sort(), await watched.threads()]).toEqual([["PENDING", "RUNNING", "RUNNING"], 2]);
    await watched.end();
  });

  test("that take too long are ended, and the job says so", async () => {
    const watched = await openWatched();
    const { clock, api, submit, read, threads, end } = watched;
    const jobId = await (await endless(watched))();
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

describe("deleting events", () => {
  testInFolder("writes nothing where there are none to be deleted", async () => {
    const { api, shop, end } = await openWatched();
    const { eventDatasetId } = shop;
    const database = new Database(folderAt(api.service.dataDir).database, { timeout: 5000 });
    database.exec("begin immediate");
    await api.call("deleteDatasetEventsBeforeTs", { eventDatasetId, ts: 1 });
    database.exec("rollback");
    database.close();
    await end();
  });

  testInFolder("breaks off when the service closes, and says so", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "sweep-"));
    const first = await openWatched({ dataDir });
    const { eventDatasetId } = first.shop;
    // As if very many events had come and gone.
    await first.api.ask("update events set seq = 4000000000000 where seq = (select max(seq) from events)");
    await first.end();
    const api = await Running.start({ dataDir });
    const deletion = api.call("deleteDatasetUserEvents", { eventDatasetId, userId: "u1" });
    const refused = expect(deletion).rejects.toMatchObject({ status: 503, error: { code: "UNAVAILABLE" } });
    await settled();
    await Promise.all([refused, api.service.close()]);
    await api.close();
    rmSync(dataDir, { recursive: true });
  });

  test("of a user deletes the results that list users", async () => {
    const { api, shop, read, end } = await openWatched();
    const { projectId, eventDatasetId } = shop;
    const modelId = await trainModel(api, shop);
    const { jobId } = await api.call("submitClusteringJob", {
      projectId,
      modelId,
      name: "groups",
      parameters: {},
    });
    await api.service.idle();
    const { downloadUrl } = (await read(jobId)).jobResult as { downloadUrl: string };
    expect((await api.raw(downloadUrl)).text).toContain("u1");
    await api.call("deleteDatasetUserEvents", { eventDatasetId, userId: "u1" });
    expect(await api.raw(downloadUrl)).toMatchObject({ status: 404 });
    expect(existsSync(join(api.service.dataDir, "results", `${jobId}.1.json`))).toBe(false);
    await end();
  });
});

testInFolder("the queue is looked through without the jobs that have ended", async () => {
  const { api, end } = await openWatched();
  const database = new Database(folderAt(api.service.dataDir).database);
  const { db } = await openStore(folderAt(api.service.dataDir).database);
  const asked: string[] = [];
  const watched = db.withPlugin({
    transformQuery: ({ node }) => {
      asked.push(db.getExecutor().compileQuery(node, { queryId: "plan" }).sql);
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await take(watched, ["TRAINING"], { worker: "any", now: 0, leaseMs: 1 });
  await db.destroy();
  const plan = database
    .prepare(`explain query plan ${asked[0]}`)
    .all("RUNNING", "any", 1, "PENDING", "TRAINING", 0, 1);
  expect(JSON.stringify(plan)).toContain("USING INDEX jobs_unfinished");
  expect(JSON.stringify(plan)).not.toContain("TEMP B-TREE");
  database.close();
  await end();
});

test("a job that was lost and taken again by the same process is not held by its former attempt", async () => {
  const { api, submit, end } = await openWatched({ jobDelayMs: 60_000 });
  await submit("held");
  const db = connect(api.options.store ?? folderAt(api.service.dataDir).database, { writes: true });
  const jobs = () => db.selectFrom("jobs").selectAll().where("status", "=", "RUNNING").execute();
  await eventually(async () => (await jobs()).length === 1);
  const [former] = await jobs();
  const lease = { worker: String(former?.worker), now: 0, leaseMs: 1000 };
  expect([...(await renew(db, former ? [former] : [], lease))]).toEqual([former]);
  await db.updateTable("jobs").set({ attempt: 2 }).execute();
  const [latter] = await jobs();
  expect([...(await renew(db, former && latter ? [former, latter] : [], lease))]).toEqual([latter]);
  await db.updateTable("jobs").set({ attempt: 1 }).execute();
  await db.destroy();
  await end();
});
