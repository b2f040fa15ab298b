import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readModel } from "../../../service/files/models";
import { openFiles } from "../../../service/files/storage/open";
import { testInDirectory, testOnPostgres } from "../database";
import { ManualClock } from "../manual-clock";
import { serve } from "../process";
import { Caller, Running } from "../running";
import { deploy, openShop } from "../shop";
import { eventually } from "./watched";

const command = `"${process.execPath}" "${join(__dirname, "trainer.mjs")}"`;
const own = mkdtempSync(join(tmpdir(), "trainer-"));
const pidFile = join(own, "pids.json");
process.env.TRAINER_PIDS = pidFile;
afterAll(() => rmSync(own, { recursive: true, force: true }));

/** Item k was bought by five users fewer than item k - 1, so the held-out pairs cannot change the order. */
const records = {
  users: Array.from({ length: 30 }, (_, user) => ({
    userId: `u${user}`,
    attributes: { likes: "drama", age: 20 },
  })),
  items: Array.from({ length: 8 }, (_, item) => ({
    itemId: `i${item}`,
    attributes: { genre: ["a"], title: "b" },
  })),
  events: Array.from({ length: 40 * 8 }, (_, at) => ({ user: at >> 3, item: at & 7 }))
    .filter(({ user, item }) => user >= item * 5)
    .map(({ user, item }) => event(`u${user}`, `i${item}`)),
};

function event(userId: string, itemId: string) {
  const eventId = `${userId} ${itemId}`;
  return { eventId, userId, itemId, ts: 1_700_000_000_000, eventType: "purchase", eventValue: 0.1 };
}

const lines: { msg: string; line?: string; stream?: string }[] = [];
const clock = new ManualClock();
let api: Running;
let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => {
  const log = { write: (line: string) => void lines.push(JSON.parse(line)) };
  api = await Running.start({ trainer: command, clock, log });
  shop = await openShop(api, records);
});
afterAll(() => api.end());

async function submit(does: string, to: Caller = api): Promise<string> {
  process.env.TRAINER_DOES = does;
  const { projectId, algorithmId } = shop;
  return (await to.call("submitTrainingJob", { projectId, algorithmId, name: does })).jobId;
}

async function outcome(does: string) {
  const job = await api.finished(shop.projectId, await submit(does));
  return { status: job.jobStatus, retries: job.retryCount, message: job.jobResult?.message ?? "" };
}

/** Waits until a trainer hangs. Returns its processes. */
async function hanging(): Promise<number[]> {
  await eventually(() => existsSync(pidFile) && readFileSync(pidFile, "utf8") !== "");
  const pids = JSON.parse(readFileSync(pidFile, "utf8")) as number[];
  rmSync(pidFile);
  expect(pids.map(lives)).toEqual([true, true]);
  return pids;
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // In a container without an init process, ended orphans stay as zombies.
    return process.platform !== "linux" || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function left(directory: string): string[] {
  return ["work", "models"].flatMap((name) =>
    existsSync(join(directory, name)) ? readdirSync(join(directory, name)) : [],
  );
}

describe("a trainer that is a command", () => {
  test("writes a model that the service measures, adds the held-out pairs to, deploys and folds new users into", async () => {
    const secrets = ["RECOMMENDER_API_KEY", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY"];
    for (const name of secrets) process.env[name] = "is not for the trainer";
    const job = await api.finished(shop.projectId, await submit("trains"));
    for (const name of secrets) delete process.env[name];
    const { jobData: data, jobResult } = job;
    const modelId = jobResult?.modelId as string;
    expect(data?.chosenParameters).toEqual({ given: data?.algorithmParameters, key: null });
    const { heldOutUsers = 0, heldOutPairs = 0, ...figures } = data?.quality ?? {};
    expect(heldOutUsers).toBeGreaterThan(0);
    expect(heldOutPairs).toBeGreaterThanOrEqual(heldOutUsers as number);
    // All items fit into the first 20, and the trainer of this test learns only popularity.
    expect(figures).toMatchObject({ recallAt20: 1, popularityRecallAt20: 1 });
    expect(figures.ndcgAt20).toBeCloseTo(figures.popularityNdcgAt20 as number, 5);

    const base = await deploy(api, shop.projectId, modelId);
    await api.call("upsertDatasetEvents", {
      eventDatasetId: shop.eventDatasetId,
      events: [event("new", "i7")],
    });
    for (const [userId, items] of [
      ["u0", "1234567"],
      ["u39", ""],
      ["new", "0123456"],
    ] as const) {
      const { results } = await api.call(
        "recommendItemsToUser",
        { userId, attributes: [], limit: 7 },
        { base },
      );
      expect(results.map(({ item }) => item.itemId)).toEqual([...items].map((item) => `i${item}`));
    }
    const { jobId } = job;
    const [row] = await api.ask(`select request_id as id from jobs where id = '${jobId}'`);
    const { id: requestId } = row as { id: string };
    expect(requestId).toMatch(/\w/);
    // The same request id as in the log line of the call that submitted the job.
    expect(lines).toContainEqual(
      expect.objectContaining({ requestId, jobId, stream: "stdout", line: "trainer begins and trains" }),
    );
    // The held-out pairs are part of the model again.
    const { store } = api.options;
    const files = openFiles({
      directory: api.service.dataDir,
      ...(store === undefined ? {} : { url: store }),
    });
    const { model } = await readModel(files, modelId);
    files.close();
    expect(model.interactions.index).toHaveLength(records.events.length);
  });

  test("that fails is retried; then the job reports its stderr, and its files are removed", async () => {
    const before = left(api.service.dataDir);
    expect(await outcome("fails")).toEqual({
      status: "FAILED",
      retries: 3,
      message: "The trainer exited with code 3:\nfirst line\nno cluster at spark://nowhere",
    });
    expect(left(api.service.dataDir)).toEqual(before);
  });

  test.each([
    ["nothing", "wrote no model to the file in RECOMMENDER_MODEL"],
    ["garbage", "cannot be used: it is not a model"],
    ["infinite", "cannot be used: it has a value in item_vectors that is not finite"],
    ["mixes", "cannot be used: it does not contain all ids of users.parquet in the same order"],
  ])("whose model is invalid (%s) fails the job at once with the reason", async (does, message) => {
    const before = left(api.service.dataDir);
    expect(await outcome(does)).toEqual({
      status: "FAILED",
      retries: 0,
      message: expect.stringContaining(message),
    });
    expect(left(api.service.dataDir)).toEqual(before);
  });

  test("is killed with its child processes when it exceeds the time limit", async () => {
    const jobId = await submit("hangs");
    const pids = await hanging();
    clock.advance(300 * 60_000);
    api.forgetTokens();
    const job = await api.finished(shop.projectId, jobId);
    expect(job.jobResult?.message).toContain("ended after 300 minutes");
    await eventually(() => !pids.some(lives));
  });

  testOnPostgres("is ended when another process has taken over its job", async () => {
    const jobId = await submit("hangs");
    const pids = await hanging();
    await api.ask(
      `update jobs set worker = 'another', attempt = attempt + 1, status = 'FAILED', result = '{"message":"elsewhere"}', finished_ts = 1 where id = '${jobId}'`,
    );
    clock.advance(5000);
    await eventually(() => !pids.some(lives));
    await api.service.idle();
    expect(left(api.service.dataDir).filter((name) => name.startsWith(jobId))).toEqual([]);
  });

  testInDirectory("ends when the service closes or is killed, and the next start trains again", async () => {
    const data = join(own, "data");
    const former = shop;
    process.env.TRAINER_DOES = "hangs";
    let service = await serve("--data", data, "--trainer", command);
    let caller = new Caller(service);
    shop = await openShop(caller, records);
    const jobId = await submit("hangs", caller);
    await caller.close();
    const first = await hanging();
    await service.end("SIGKILL");
    await eventually(() => !first.some(lives));
    service = await serve("--data", data, "--trainer", command);
    const second = await hanging();
    await service.end();
    expect(second.map(lives)).toEqual([false, false]);
    expect(left(data)).toEqual([]);
    process.env.TRAINER_DOES = "trains";
    service = await serve("--data", data, "--trainer", command);
    const { projectId } = shop;
    caller = new Caller(service);
    await eventually(async () => (await caller.call("getJob", { projectId, jobId })).jobStatus === "SUCCEED");
    await caller.close();
    await service.end();
    shop = former;
  });
});
