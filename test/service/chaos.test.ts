import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { limits } from "../../contract";
import { Cluster, randomOf } from "./chaos";
import { defectsIn, discarded, isTakenAway, type JobRow, ReadinessWatch, retriesOf } from "./chaos-checks";
import { ChaosDatabase } from "./chaos-database";
import { Load } from "./chaos-load";
import { askDatabase } from "./database";
import { Caller } from "./running";
import { openShop, shopRecords } from "./shop";

const isLong = process.env.CHAOS_KILLS !== undefined;
const kills = Number(process.env.CHAOS_KILLS ?? 11);
const seed = Number(process.env.CHAOS_SEED ?? 7);
/** A limit of one second is reliable only on an idle machine. */
const longestGapMs = Number(process.env.CHAOS_GAP_MS ?? (isLong ? 1000 : 10_000));
/** Maximum duration of an outage; the minimum is 5 s. */
const longestOutageMs = isLong ? 60_000 : 6000;
const leaseMs = 4000;

const undo: (() => Promise<void>)[] = [];
afterAll(async () => {
  // Every step runs, even if one fails. Otherwise processes would be left.
  for (const step of undo.reverse()) await step().catch((error) => process.stderr.write(`${error}\n`));
});

test(`${kills} faults of two API processes and two workers lose nothing, duplicate nothing and interrupt no calls (seed ${seed})`, async () => {
  process.env.RECOMMENDER_API_KEY = "rk_the-key-of-the-chaos";
  const random = randomOf(seed);
  const database = await ChaosDatabase.start(random, longestOutageMs);
  undo.push(() => database.stop());
  const ask = <T>(statement: string) => askDatabase<T>(database.url, statement);
  // All processes create the tables of the empty database at the same time.
  const cluster = await Cluster.start(database, leaseMs, random);
  undo.push(() => cluster.end());
  undo.push(async () => {
    for (const line of cluster.members.flatMap(({ said }) => defectsIn(said)))
      process.stderr.write(`${line}\n`);
  });
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

  const watch = new ReadinessWatch();
  undo.push(() => watch.stop());
  watch.start(cluster.members);
  const load = new Load(cluster, database, caller, shop, { ...calm, modelId: await train(calm) }, random);
  undo.push(() => load.stop());
  load.start();
  for (let kill = 0; kill < kills; kill++) {
    await sleep(300 + random() * 900);
    const stroke = await cluster.strike();
    await cluster.ready();
    if (isLong)
      process.stderr.write(
        `${kill + 1} ${stroke}: ${load.answers} answers, longest gap ${Math.round(load.longestGapMs)} ms\n`,
      );
  }

  await cluster.recover();
  await sleep(leaseMs);
  await load.stop();
  await watch.stop();
  const unfinished = () => ask<JobRow>("select * from jobs where finished_ts is null");
  while ((await unfinished()).length > 0) await sleep(100);

  const jobs = await ask<JobRow>("select * from jobs order by number");
  const succeeded = (type: string) => jobs.filter((job) => job.job_type === type && job.status === "SUCCEED");
  const failed = jobs.filter((job) => job.status === "FAILED");
  const retries = jobs.flatMap(retriesOf);
  const starts = cluster.members.flatMap(({ failedStarts }) => failedStarts);
  process.stdout.write(
    `\n${kills} strokes (${[...cluster.fell].map(([name, count]) => `${count} ${name}`).join(", ")}), seed ${seed}: ` +
      `${load.acknowledged.size} events, ${load.forgotten.length} users forgotten, ${load.answers} answers, ` +
      `longest gap ${Math.round(load.longestGapMs)} ms beside the database's outages of ` +
      `${database.outages.map(({ began, ended }) => Math.round(ended - began)).sort((a, b) => a - b)} ms, ` +
      `${starts.length} starts refused meanwhile, ${jobs.length} jobs, ${retries.length} runs repeated ` +
      `(${retries.filter(({ interrupted }) => interrupted).length} for outages, ` +
      `${retries.filter(isTakenAway).length} for killed or stopped workers), ${failed.length} failed\n` +
      failed.map(({ job_type, result }) => `${job_type}: ${result}\n`).join(""),
  );
  for (const member of cluster.members) expect(member.fate).toBeUndefined();
  if (kills >= cluster.strokes.length)
    expect([...cluster.fell.keys()].sort()).toEqual([...cluster.strokes].sort());
  expect(watch.untrue(database)).toEqual([]);
  expect(watch.unnoticed(database)).toEqual([]);

  expect(load.wrong).toEqual([]);
  expect(load.longestGapMs).toBeLessThan(longestGapMs);
  expect(discarded(cluster.members, jobs, leaseMs)).toEqual([]);
  // Each run has a reason, and no job fails because of an outage.
  for (const job of jobs) expect([job.id, job.attempt]).toEqual([job.id, 1 + retriesOf(job).length]);
  for (const job of failed)
    expect([job.result, retriesOf(job).filter(isTakenAway).length]).toEqual([
      expect.stringMatching(/Events of users were deleted|sent no heartbeat/),
      /deleted/.test(job.result) ? expect.any(Number) : limits.jobRetries,
    ]);
  // One job per idempotency key.
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
  // An event that was sent again has the value of any of the calls, because a paused process may write late.
  for (const [id, sent] of load.sent) if (stored.has(id)) expect(sent).toContain(stored.get(id));
  const [counted] = await ask<{ n: string }>(
    `select sum(records) n from shards join datasets on number = dataset where id = '${shop.eventDatasetId}'`,
  );
  expect(Number(counted?.n)).toBe(stored.size);

  const [deployment] = await ask<{ job_id: string }>("select job_id from deployments");
  expect(deployment?.job_id).toBe(succeeded("DEPLOYMENT").at(-1)?.id);
  // A process answers from its previous deployment until it has loaded the last one.
  const idsOfBoth = (userId: string) => Promise.all([idsFor(one.url, userId), idsFor(other.url, userId)]);
  for (let tries = 0; tries < 100 && !isDeepStrictEqual(...(await idsOfBoth("u1"))); tries++)
    await sleep(100);
  for (const userId of ["u1", "u7", "stranger"]) {
    const [ids, otherIds] = await idsOfBoth(userId);
    expect(ids).toEqual(otherIds);
  }
  expect(load.forgotten.length).toBeGreaterThan(0);
  for (const userId of load.forgotten) {
    expect(events.filter((id) => id.startsWith(`${userId}-`))).toEqual([]);
    for (const { url } of cluster.apis)
      expect([userId, await idsFor(url, userId)]).toEqual([userId, await idsFor(url, "stranger")]);
  }
  const processes = () => ask<{ role: string }>("select role from processes order by role");
  while ((await processes()).length > 4) await sleep(100);
  expect((await processes()).map(({ role }) => role)).toEqual(["api", "api", "worker", "worker"]);
});
