import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Service, startService } from "../../../service";
import { newDatabase } from "../database";
import { run, serve } from "../process";
import { Caller } from "../running";
import { openShop, shopRecords } from "../shop";
import { contentsOf, done } from "./contents";

const directory = mkdtempSync(join(tmpdir(), "backup-"));
const at = (name: string) => join(directory, name);
const odd = [
  "quote \" ' ` \\",
  "line\nbreak\r\n\u2028",
  "żółć 😀 \u{10ffff}",
  "%s $1 ?",
  "\ttab \u0001\u007f",
  " ",
];
let database: Awaited<ReturnType<typeof newDatabase>>;
beforeAll(async () => {
  database = await newDatabase();
});
afterAll(async () => {
  await database.drop();
  rmSync(directory, { recursive: true });
});

type Shop = Awaited<ReturnType<typeof openShop>>;

async function jobEnd(api: Caller, projectId: string, jobId: string) {
  for (;;) {
    const job = await api.call("getJob", { projectId, jobId });
    if (/^(SUCCEED|FAILED)$/.test(job.jobStatus)) return job;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Returns the recommendations of all users, including users without events and with unusual ids. */
async function recommendations(api: Caller): Promise<unknown[]> {
  const users = [...Array.from({ length: 42 }, (_, at) => `u${at}`), ...odd];
  return Promise.all(
    users.map(async (userId) => (await api.call("recommendItemsToUser", { userId, limit: 10 })).results),
  );
}

/** Upserts batches of events until it is stopped. Returns the acknowledged ones. */
function underLoad(api: Caller, { eventDatasetId }: Shop) {
  const acknowledged: number[] = [];
  let ending = false;
  const work = (async () => {
    for (let batch = 0; !ending; batch++) {
      const events = Array.from({ length: 50 }, (_, at) => ({
        ...{ eventId: `load ${batch} ${at}`, userId: `u${at}`, itemId: `i${at}` },
        ...{ ts: batch, eventType: "view", attributes: { batch } },
      }));
      await api.call("upsertDatasetEvents", { eventDatasetId, events });
      acknowledged.push(batch);
    }
  })();
  return {
    acknowledged,
    end: async () => {
      ending = true;
      await work;
    },
  };
}

test("a service under load moves to PostgreSQL and back, keeps all acknowledged events, and recommends the same", async () => {
  const service = await serve("--data", at("data"), "--job-delay", "300");
  const api = new Caller(service);
  const records = shopRecords();
  records.events.push(
    ...odd.map((id, at) => ({
      ...(records.events[at] as (typeof records.events)[0]),
      eventId: id,
      userId: id,
    })),
  );
  const shop = await openShop(api, records);
  const { projectId, algorithmId, eventDatasetId } = shop;
  const training = { projectId, algorithmId, name: "weekly" };
  const keyed = { headers: { "idempotency-key": "the key of the first" } };
  const { jobId } = await api.call("submitTrainingJob", training, keyed);
  const generatorModelId = (await jobEnd(api, projectId, jobId)).jobResult?.modelId as string;
  const deployment = { projectId, name: "live", generatorModelId, qps: 100_000 };
  await jobEnd(api, projectId, (await api.call("submitDeploymentJob", deployment)).jobId);
  await api.call("deleteDatasetUserEvents", { eventDatasetId, userId: "u7" });
  const grouping = { projectId, modelId: generatorModelId, name: "groups", parameters: {} };
  const groups = (await api.call("submitClusteringJob", grouping)).jobId;
  expect(await jobEnd(api, projectId, groups)).toMatchObject({ jobStatus: "SUCCEED" });
  const before = await recommendations(api);

  const load = underLoad(api, shop);
  while (load.acknowledged.length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
  const running = (await api.call("submitTrainingJob", { ...training, name: "under way" })).jobId;
  const acknowledged = load.acknowledged.length;
  const exported = await done("export", at("first"), "--data", at("data"), "--json");
  expect(load.acknowledged.length).toBeGreaterThan(acknowledged);
  await load.end();
  await api.close();
  await service.end();
  expect(JSON.parse(exported.out)).toMatchObject({ rows: { datasets: 3, projects: 1 }, dir: at("first") });
  for (const name of ["key", "secret", "manifest.json"])
    expect(statSync(at(`first/${name}`)).mode & 0o777).toBe(0o600);

  const restored = await done("restore", at("first"), "--store", database.url);
  expect(restored.out).toContain("Start the service with RECOMMENDER_API_KEY");
  await done("export", at("second"), "--store", database.url);
  await done("restore", at("second"), "--data", at("back"));
  await done("export", at("third"), "--data", at("back"));
  const first = await contentsOf(at("first"));
  const { key: _, ...withoutKey } = first;
  expect(await contentsOf(at("second"))).toEqual(withoutKey);
  expect(await contentsOf(at("third"))).toEqual(withoutKey);

  expect(Object.keys(first)).toContain(`results/${groups}.1.json`);

  const batches = new Map<string, number>();
  for (const row of first.events ?? []) {
    const { event_id } = Object.fromEntries(JSON.parse(row)) as { event_id: string };
    const [, batch] = /^load (\d+) /.exec(event_id) ?? [];
    if (batch !== undefined) batches.set(batch, (batches.get(batch) ?? 0) + 1);
  }
  expect(new Set(batches.values())).toEqual(new Set([50]));
  expect(batches.size).toBeGreaterThanOrEqual(acknowledged);
  expect([...batches.keys()]).toEqual(
    expect.arrayContaining(load.acknowledged.slice(0, acknowledged).map(String)),
  );

  for (const where of [{ store: database.url, key: service.key }, { dataDir: at("back") }]) {
    const moved: Service = await startService({ log: "none", ...where });
    const caller = new Caller(moved);
    expect(await recommendations(caller)).toEqual(before);
    expect(await caller.call("submitTrainingJob", training, keyed)).toEqual({ jobId });
    const again = await jobEnd(caller, projectId, running);
    expect(again).toMatchObject({ jobStatus: "SUCCEED", retryCount: 0 });
    const status = { headers: { apikey: moved.key } };
    const { body } = await caller.raw("/status", status);
    expect(body.datasets.map(({ records }: { records: number }) => records)).toEqual([
      records.users.length,
      records.items.length,
      first.events?.length,
    ]);
    if ("store" in where) {
      const busy = await run("restore", at("first"), "--store", database.url);
      expect(busy).toMatchObject({ code: 3, err: expect.stringContaining("is in use by process-") });
    }
    await caller.close();
    await moved.close();
  }
  const full = await run("restore", at("first"), "--store", database.url);
  expect(full).toMatchObject({ code: 1, err: expect.stringContaining("already contains data") });
});
