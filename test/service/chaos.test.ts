import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../../tools/postgres/start.js";
import { askDatabase, Cluster, randomOf, strokes } from "./chaos";
import { Load } from "./chaos-load";
import { Caller } from "./running";
import { openShop, shopRecords } from "./shop";

const kills = Number(process.env.CHAOS_KILLS ?? 6);
const seed = Number(process.env.CHAOS_SEED ?? 7);
/** Only a machine that does nothing else can promise a second. */
const longestGapMs = process.env.CHAOS_KILLS === undefined ? 10_000 : 1000;
const leaseMs = 2000;

interface JobRow {
  readonly id: string;
  readonly project_id: string;
  readonly job_type: string;
  readonly name: string;
  readonly status: string;
  readonly result: string;
}

const undo: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

test(`${kills} strokes against two APIs and two workers lose nothing, double nothing, and leave no gap (seed ${seed})`, async () => {
  process.env.RECOMMENDER_API_KEY = "rk_the-key-of-the-chaos";
  const random = randomOf(seed);
  // One of its own, because it is made to crash; and one that keeps what it has acknowledged.
  const server = await startPostgres({ durable: true, own: true });
  undo.push(() => server.stop());
  const ask = <T>(statement: string) => askDatabase<T>(server.url, statement);
  // All of them make the tables of the empty database at once.
  const cluster = await Cluster.start(server.url, leaseMs, random);
  undo.push(() => cluster.end());
  const [one, other] = cluster.apis as [Cluster["apis"][number], Cluster["apis"][number]];
  const caller = new Caller({ url: one.url, key: one.key });
  undo.push(() => caller.close());
  const { users: _, ...records } = shopRecords();
  const shop = await openShop(caller, { ...records, users: [] });
  const calm = await openShop(caller);
  const train = async ({ projectId, algorithmId }: typeof shop) => {
    const { jobId } = await caller.call("submitTrainingJob", { projectId, algorithmId, name: "first" });
    return (await ended(projectId, jobId)).jobResult?.modelId as string;
  };
  const ended = async (projectId: string, jobId: string) => {
    for (;;) {
      const job = await caller.call("getJob", { projectId, jobId });
      if (job.jobStatus === "SUCCEED" || job.jobStatus === "FAILED") return job;
      await sleep(20);
    }
  };
  const wanted = {
    projectId: shop.projectId,
    generatorModelId: await train(shop),
    name: "first",
    qps: 100_000,
  };
  await ended(shop.projectId, (await caller.call("submitDeploymentJob", wanted)).jobId);
  const idsFor = async (base: string, userId: string) => {
    const { results } = await caller.call("recommendItemsToUser", { userId, limit: 60 }, { base });
    return results.map(({ item }) => item.itemId);
  };
  for (const { url } of cluster.apis) expect(await idsFor(url, "u1")).not.toEqual([]);
  for (const path of ["/delete-dataset-user-events", "/submit-clustering-job"]) await caller.headers(path);

  const load = new Load(cluster, caller, shop, { ...calm, modelId: await train(calm) }, random);
  undo.push(() => load.stop());
  load.start();
  for (let kill = 0; kill < kills; kill++) {
    await sleep(300 + random() * 900);
    await cluster.strike();
    if (process.env.CHAOS_KILLS !== undefined && (kill + 1) % 10 === 0)
      process.stderr.write(
        `${kill + 1} strokes, ${load.answers} answers, longest gap ${Math.round(load.longestGapMs)} ms\n`,
      );
  }

  await cluster.recover();
  await sleep(leaseMs);
  await load.stop();
  const unfinished = () => ask<JobRow>("select * from jobs where finished_ts is null");
  for (const until = Date.now() + 120_000; Date.now() < until && (await unfinished()).length > 0; )
    await sleep(100);

  const jobs = await ask<JobRow>("select * from jobs order by number");
  const succeeded = (type: string) => jobs.filter((job) => job.job_type === type && job.status === "SUCCEED");
  const failed = jobs.filter((job) => job.status === "FAILED");
  process.stdout.write(
    `\n${kills} strokes (${[...cluster.fell].map(([name, count]) => `${count} ${name}`).join(", ")}), seed ${seed}: ` +
      `${load.acknowledged.size} events, ${load.forgotten.length} users forgotten, ${load.answers} answers, ` +
      `longest gap ${Math.round(load.longestGapMs)} ms beside the database's own, of ` +
      `${Math.round(cluster.longestOutageMs())} ms at most, ${jobs.length} jobs, ${failed.length} failed\n` +
      failed.map(({ job_type, result }) => `${job_type}: ${result}\n`).join(""),
  );
  for (const member of cluster.members) expect(member.fate).toBeUndefined();
  if (kills >= strokes.length) expect([...cluster.fell.keys()].sort()).toEqual([...strokes].sort());

  expect(load.wrong).toEqual([]);
  expect(load.longestGapMs).toBeLessThan(longestGapMs);
  expect(await unfinished()).toEqual([]);
  for (const { result } of failed) expect(JSON.parse(result).message).toMatch(/\w/);
  // However often a submission was repeated under its key.
  expect(new Set(load.jobs.map(({ jobId }) => jobId)).size).toBe(load.jobs.length);
  expect(jobs.map(({ id }) => id)).toEqual(expect.arrayContaining(load.jobs.map(({ jobId }) => jobId)));
  expect(new Set(jobs.filter(({ name }) => name !== "first").map(({ name }) => name)).size).toBe(
    jobs.length - 3,
  );

  const models = await ask<{ id: string }>("select id from models");
  const made = succeeded("TRAINING").map(({ result }) => JSON.parse(result).modelId as string);
  expect(models.map(({ id }) => id).sort()).toEqual(made.sort());
  const files = (await ask<{ name: string }>("select name from files")).map(({ name }) => name);
  for (const id of made) expect(files).toContain(`models/${id}`);
  const clusterings = succeeded("CLUSTERING");
  for (const { project_id: projectId, id: jobId } of clusterings) {
    const { jobResult } = await caller.call("getJob", { projectId, jobId });
    expect((await caller.raw((jobResult as { downloadUrl: string }).downloadUrl)).status).toBe(200);
  }
  expect(clusterings.length).toBeGreaterThan(0);

  const rows = await ask<{ event_id: string; content: Record<string, unknown> }>(
    `select event_id, json_build_object('userId', user_id, 'itemId', item_id, 'ts', ts, 'eventType', event_type,
       'eventValue', event_value, 'attributes', events.attributes::json) as content
     from events join datasets on number = dataset where id = '${shop.eventDatasetId}'`,
  );
  const events = rows.map(({ event_id }) => event_id);
  const stored = new Map(rows.map(({ event_id, content }) => [event_id, JSON.stringify(content)]));
  expect([...load.acknowledged].filter((id) => !stored.has(id))).toEqual([]);
  // One that was sent again stands as one of the calls has sent it: a process that stood still may write it later.
  for (const [id, sent] of load.sent) if (stored.has(id)) expect(sent).toContain(stored.get(id));
  const [counted] = await ask<{ n: string }>(
    `select sum(records) n from shards join datasets on number = dataset where id = '${shop.eventDatasetId}'`,
  );
  expect(Number(counted?.n)).toBe(stored.size);

  const [deployment] = await ask<{ job_id: string }>("select job_id from deployments");
  expect(deployment?.job_id).toBe(succeeded("DEPLOYMENT").at(-1)?.id);
  for (const userId of ["u1", "u7", "stranger"])
    expect(await idsFor(one.url, userId)).toEqual(await idsFor(other.url, userId));
  expect(load.forgotten.length).toBeGreaterThan(0);
  for (const userId of load.forgotten) {
    expect(events.filter((id) => id.startsWith(`${userId}-`))).toEqual([]);
    for (const { url } of cluster.apis)
      expect([userId, await idsFor(url, userId)]).toEqual([userId, await idsFor(url, "stranger")]);
  }
  const processes = () => ask<{ role: string }>("select role from processes order by role");
  for (let tries = 0; tries < 100 && (await processes()).length > 4; tries++) await sleep(100);
  expect((await processes()).map(({ role }) => role)).toEqual(["api", "api", "worker", "worker"]);
});
