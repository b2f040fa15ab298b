import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { dataDirectoryAt } from "../../../service";
import { connect, openStore } from "../../../service/store/database";
import { renew, take } from "../../../service/store/queue";
import { allowance, refusal, testInDirectory } from "../database";
import { Running } from "../running";
import { trainModel } from "../shop";
import { eventually, openWatched, settled } from "./watched";

const pollMs = 5000;

describe("the queue", () => {
  let watched: Awaited<ReturnType<typeof openWatched>>;
  beforeAll(async () => {
    watched = await openWatched({ retryDelayMs: 1000 });
  });
  afterEach(() => watched.switchOn({}));
  afterAll(() => watched.end());

  test("starts a job later if the database rejects the claim at first", async () => {
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

  test("writes the end of a job later if the database rejects it at first", async () => {
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

  test("finds a job without a call of wake", async () => {
    const { api, clock, submit, read } = watched;
    const jobId = await submit("untold");
    await api.service.idle();
    await api.ask(
      `update jobs set status = 'PENDING', result = null, finished_ts = null where id = '${jobId}'`,
    );
    await eventually(async () => {
      clock.advance(pollMs);
      return (await read(jobId)).jobStatus === "SUCCEED";
    });
  });

  // With PostgreSQL, the clock of the database decides, which a test cannot move; see test/service/lease.test.ts.
  testInDirectory("waits before it tries a failed job again, each time longer", async () => {
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

describe("deleting events", () => {
  testInDirectory("writes nothing if no events match", async () => {
    const { api, shop, end } = await openWatched();
    const { eventDatasetId } = shop;
    const database = new Database(dataDirectoryAt(api.service.dataDir).database, { timeout: 5000 });
    database.exec("begin immediate");
    await api.call("deleteDatasetEventsBeforeTs", { eventDatasetId, ts: 1 });
    database.exec("rollback");
    database.close();
    await end();
  });

  testInDirectory("is interrupted with an error when the service closes", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "sweep-"));
    const first = await openWatched({ dataDir });
    const { eventDatasetId } = first.shop;
    // With so large a range of numbers, the deletion never ends.
    await first.api.ask("update events set seq = 4000000000000 where seq = (select max(seq) from events)");
    await first.end();
    const api = await Running.start({ dataDir });
    const deletion = api.call("deleteDatasetUserEvents", { eventDatasetId, userId: "u1" });
    const refused = expect(deletion).rejects.toMatchObject({ status: 503, error: { code: "UNAVAILABLE" } });
    const remaining = "select seq from events where user_id = 'u1' and seq < 4000000000000";
    await eventually(async () => (await api.ask(remaining)).length === 0);
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

testInDirectory("the queue is searched without reading ended jobs", async () => {
  const { api, end } = await openWatched();
  const database = new Database(dataDirectoryAt(api.service.dataDir).database);
  const { db } = await openStore(dataDirectoryAt(api.service.dataDir).database);
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
  expect(JSON.stringify(plan)).toMatch(/SEARCH jobs USING INDEX jobs_(unfinished|by_status) \(status=\?/);
  expect(JSON.stringify(plan)).not.toContain("TEMP B-TREE");
  database.close();
  await end();
});

test("an earlier attempt does not renew the lease of a job that the same process lost and took again", async () => {
  const { api, submit, end } = await openWatched({ jobDelayMs: 60_000 });
  await submit("held");
  const db = connect(api.options.store ?? dataDirectoryAt(api.service.dataDir).database, { writes: true });
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
