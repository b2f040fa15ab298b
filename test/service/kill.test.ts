import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { serve } from "./process";
import { Caller, Refusal } from "./running";
import { openShop, shopRecords } from "./shop";

const kills = Number(process.env.KILLS ?? 8);

interface Submission {
  readonly key: string;
  readonly name: string;
  jobId?: string;
}

/** Calls and acknowledgements of the clients, over all restarts of the service. */
class Clients {
  readonly acknowledged = new Set<string>();
  readonly trainings: Submission[] = [];
  readonly deployments: Submission[] = [];
  private next = 0;

  constructor(private readonly shop: Awaited<ReturnType<typeof openShop>>) {}

  /** Makes calls until the service is killed. */
  async work(api: Caller): Promise<void> {
    await Promise.all([this.upsert(api), this.upsert(api), this.train(api)].map((one) => one.catch(died)));
  }

  private async upsert(api: Caller): Promise<never> {
    for (;;) {
      // Some ids are repeated, so kills interrupt updates and inserts.
      const events = Array.from({ length: 500 }, () => {
        const id = Math.random() < 0.1 ? Math.floor(Math.random() * this.next) : this.next++;
        return { eventId: `k${id}`, userId: `u${id % 40}`, itemId: `i${id % 60}`, ts: id, eventType: "view" };
      });
      const reply = await api.call("upsertDatasetEvents", {
        eventDatasetId: this.shop.eventDatasetId,
        events,
      });
      for (const id of reply.succeedIds) this.acknowledged.add(id);
    }
  }

  /** Submits with an idempotency key that is reused until a response arrives. */
  private async train(api: Caller): Promise<never> {
    const { projectId, algorithmId } = this.shop;
    for (;;) {
      const training = open(this.trainings);
      const submission = { projectId, algorithmId, name: training.name };
      training.jobId = (await api.call("submitTrainingJob", submission, keyed(training))).jobId;
      const { models } = await api.call("listModels", { projectId });
      const model = models.at(-1);
      if (!model) continue;
      const deployment = open(this.deployments);
      const wanted = { projectId, name: deployment.name, generatorModelId: model.modelId, qps: 1000 };
      try {
        deployment.jobId = (await api.call("submitDeploymentJob", wanted, keyed(deployment))).jobId;
      } catch (error) {
        // The newest model may have changed since the interrupted attempt.
        if (!(error instanceof Refusal) || error.error.code !== "IDEMPOTENCY_CONFLICT") throw error;
        this.deployments.pop();
      }
    }
  }
}

function open(list: Submission[]): Submission {
  const last = list.at(-1);
  if (last && last.jobId === undefined) return last;
  const added = { key: randomUUID(), name: `job ${list.length}` };
  list.push(added);
  return added;
}

function keyed({ key }: Submission) {
  return { headers: { "idempotency-key": key } };
}

function died(error: unknown): void {
  if (error instanceof Refusal) throw error;
}

test(`after ${kills} kills, all acknowledged data exists, every job has ended, and no job has two results`, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "kill-"));
  const options = ["--data", dataDir, "--job-delay", "30", "--plan-shards", "1000"];
  let service = await serve(...options);
  let api = new Caller(service);
  const shop = await openShop(api, shopRecords({ users: 40, items: 60, perUser: 20 }));
  const clients = new Clients(shop);
  for (let life = 0; life < kills; life++) {
    const work = clients.work(api);
    await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 900));
    await service.end("SIGKILL");
    await work;
    await api.close();
    service = await serve(...options);
    api = new Caller(service);
  }

  const { projectId } = shop;
  const models = new Set<string>();
  let succeeded = 0;
  let isDeployed = false;
  for (const { jobId } of [...clients.trainings, ...clients.deployments]) {
    if (jobId === undefined) continue;
    let job = await api.call("getJob", { projectId, jobId });
    while (job.jobStatus === "PENDING" || job.jobStatus === "RUNNING")
      job = await api.call("getJob", { projectId, jobId });
    expect(job.retryCount).toBeLessThanOrEqual(3);
    if (job.jobStatus === "FAILED")
      expect(job.jobResult?.message).toMatch(/was killed, .* in the last of its 4 tries/);
    else if (job.jobType === "TRAINING") {
      succeeded++;
      models.add(job.jobResult?.modelId as string);
    } else isDeployed = true;
  }
  const { models: listed } = await api.call("listModels", { projectId });
  for (const id of models) expect(listed.map(({ modelId }) => modelId)).toContain(id);
  expect(models.size).toBe(succeeded);
  if (isDeployed) {
    expect((await api.call("recommendItemsToUser", { userId: "u1" })).results.length).toBeGreaterThan(0);
  }
  await api.close();
  await service.end();

  const database = new Database(join(dataDir, "data.db"));
  const count = (sql: string) => (database.prepare(sql).all() as { n: number }[])[0]?.n;
  const stored = new Set(
    (database.prepare("select event_id from events").all() as { event_id: string }[]).map(
      (row) => row.event_id,
    ),
  );
  expect(clients.acknowledged.size).toBeGreaterThan(0);
  expect([...clients.acknowledged].filter((id) => !stored.has(id))).toEqual([]);
  expect(count("select sum(records) n from shards where dataset = 3")).toBe(stored.size);
  // One job for each idempotency key, and one model for each successful training.
  const jobs = database
    .prepare("select job_type, name, status, count(*) n from jobs group by job_type, name, status")
    .all();
  for (const job of jobs as { n: number }[]) expect(job).toMatchObject({ n: 1 });
  expect(count("select count(*) n from models")).toBe(
    count("select count(*) n from jobs where job_type = 'TRAINING' and status = 'SUCCEED'"),
  );
  database.close();
  rmSync(dataDir, { recursive: true });
});
