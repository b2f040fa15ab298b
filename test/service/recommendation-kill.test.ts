import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { dataDirectoryAt } from "../../service";
import { connect } from "../../service/store/database";
import { newDatabase } from "./database";
import { serve } from "./process";
import { Caller } from "./running";
import { openShop, shopRecords } from "./shop";

const key = "rk_the-key-of-the-kills";
/** Users without events. They are in the file too, and an upload of them is fast. */
const others = Array.from({ length: 30_000 }, (_, at) => `v${String(at).padStart(5, "0")}`);
const forgotten = ["u1", others.at(-1) as string];
const kills = 2;

/** A place for the data of a service, which outlives the processes that are killed. */
interface Place {
  readonly options: readonly string[];
  readonly database: string;
  remove(): Promise<void>;
}

async function newPlace(kind: "a data directory" | "PostgreSQL"): Promise<Place> {
  if (kind === "PostgreSQL") {
    const { url, drop } = await newDatabase();
    return { options: ["--store", url, "--lease-ms", "1000"], database: url, remove: drop };
  }
  const directory = mkdtempSync(join(tmpdir(), "kill-"));
  const { database } = dataDirectoryAt(directory);
  const remove = async () => rmSync(directory, { recursive: true });
  return { options: ["--data", directory], database, remove };
}

async function countChunks({ database }: Place): Promise<number> {
  const db = connect(database);
  const { rows } = await sql<{ n: number }>`select count(*) as n from job_chunks`.execute(db);
  await db.destroy();
  return Number(rows[0]?.n);
}

beforeAll(() => {
  process.env.RECOMMENDER_API_KEY = key;
});
afterAll(() => {
  delete process.env.RECOMMENDER_API_KEY;
});

test.each(["a data directory", "PostgreSQL"] as const)(
  `with %s, a job whose service is killed ${kills} times lists every user once, without users who were forgotten`,
  async (kind) => {
    const place = await newPlace(kind);
    let service = await serve(...place.options);
    let api = new Caller(service);
    const shop = await openShop(api, shopRecords());
    const { projectId, userDatasetId, eventDatasetId } = shop;
    for (let from = 0; from < others.length; from += 1000) {
      const users = others.slice(from, from + 1000).map((userId) => ({ userId, attributes: { age: 30 } }));
      await api.call("upsertDatasetUsers", { userDatasetId, users });
    }
    const isPending = async (jobId: string) =>
      ["PENDING", "RUNNING"].includes((await api.call("getJob", { projectId, jobId })).jobStatus);
    const finished = async (jobId: string) => {
      while (await isPending(jobId)) await sleep(20);
      const job = await api.call("getJob", { projectId, jobId });
      expect(job).toMatchObject({ jobStatus: "SUCCEED" });
      return job;
    };
    const forget = async (userId: string) => {
      await api.call("deleteDatasetUserEvents", { eventDatasetId, userId });
      await api.call("deleteDatasetUser", { userDatasetId, userId });
    };
    const training = { projectId, algorithmId: shop.algorithmId, name: "weekly" };
    const trained = await finished((await api.call("submitTrainingJob", training)).jobId);
    const modelId = trained.jobResult?.modelId as string;

    const asked = { projectId, name: "mail", modelId, attributes: ["title"], limit: 20 };
    const { jobId } = await api.call("submitRecommendationJob", asked);
    let written = 0;
    for (let life = 0; life < kills; life++) {
      // Each process writes at least one more part before it is killed.
      for (let now = 0; now <= written && (await isPending(jobId)); ) now = await countChunks(place);
      // The parts contain the first user already, but not the last one.
      if (life === 0) for (const userId of forgotten) await forget(userId);
      await service.end("SIGKILL");
      await api.close();
      written = await countChunks(place);
      service = await serve(...place.options);
      api = new Caller(service);
    }
    const job = await finished(jobId);
    expect(job.retryCount).toBeGreaterThan(0);
    const { text } = await api.raw(job.jobResult?.downloadUrl as string);
    const listed = text
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { user_id: string }).user_id);
    const everyone = [...shopRecords().users.map(({ userId }) => userId), ...others].sort();
    expect(listed).toEqual(everyone.filter((id) => !forgotten.includes(id)));
    expect(job.jobResult?.userCount).toBe(listed.length);
    expect(await countChunks(place)).toBe(0);
    await api.close();
    await service.end();
    await place.remove();
  },
);
