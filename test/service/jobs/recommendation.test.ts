import { execFileSync } from "node:child_process";
import { Worker } from "node:worker_threads";
import { type Input, limits, type routes } from "../../../contract";
import type { ServiceContext } from "../../../service/files/service-context";
import { Pool } from "../../../service/threads/pool";
import { testInDirectory } from "../database";
import { Running } from "../running";
import { deploy, openShop, shopRecords, trainModel } from "../shop";

type Fields = Input<(typeof routes)["submitRecommendationJob"]>;

describe("recommendations for many users", () => {
  const records = shopRecords();
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  let modelId: string;
  let projectId: string;
  beforeAll(async () => {
    api = await Running.start();
    shop = await openShop(api, records);
    ({ projectId } = shop);
    const event = { ts: 1_700_000_000_000, eventType: "purchase", itemId: "i3" };
    await api.call("upsertDatasetEvents", {
      eventDatasetId: shop.eventDatasetId,
      events: [{ ...event, eventId: "x", userId: "without a record\u2028" }],
    });
    await api.call("upsertDatasetUsers", {
      userDatasetId: shop.userDatasetId,
      users: [{ userId: "without events", attributes: { likes: "comedy", age: 33 } }],
    });
    modelId = await trainModel(api, shop);
    await deploy(api, projectId, modelId, { qps: 100_000, rules: { pin: [{ itemId: "i9", position: 2 }] } });
  });
  afterAll(() => api.end());

  const submit = async (more: Partial<Fields> = {}) =>
    (await api.call("submitRecommendationJob", { projectId, name: "mail", ...more })).jobId;
  const finished = async (more: Partial<Fields> = {}) => {
    const job = await api.finished(projectId, await submit(more));
    expect(job).toMatchObject({ jobType: "RECOMMENDATION", jobStatus: "SUCCEED" });
    return job;
  };
  const fetched = async (url = "") => {
    const { text, answered, status } = await api.raw(url);
    expect([status, answered["content-type"]]).toEqual([200, "application/x-ndjson; charset=utf-8"]);
    return text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { user_id: string; results: { item: { item_id: string } }[] });
  };
  const lists = async (more: Partial<Fields> = {}) =>
    fetched((await finished(more)).jobResult?.downloadUrl ?? undefined);
  const called = async (userId: string, more: object = {}) => {
    const { results } = await api.call("recommendItemsToUser", { userId, limit: 10, ...more });
    return results.map(({ item }) => ({ item: { ...item.attributes, item_id: item.itemId } }));
  };

  test("every user has one line, with the list that a call returns", async () => {
    const lines = await lists();
    const everyone = [
      ...records.users.map(({ userId }) => userId),
      "without a record\u2028",
      "without events",
    ];
    expect(lines.map((line) => line.user_id)).toEqual(everyone.sort());
    for (const { user_id, results } of lines) expect(results).toEqual(await called(user_id));
  });

  test("a list can have the most users with the longest ids", async () => {
    const { batchUsers, idCharacters } = limits;
    const userIds = Array.from({ length: batchUsers }, (_, at) => String(at).padEnd(idCharacters, "x"));
    const { jobResult } = await finished({ userIds: [...userIds.slice(1), "u1"] });
    expect(jobResult).toMatchObject({ userCount: 1, message: expect.stringMatching(/^9999 of 10000 /) });
  });

  test("the options apply to every user", async () => {
    const options = {
      limit: 4,
      attributes: ["title", "none"],
      filterQuery: "user.likes in item.genre",
      excludeItemIds: ["i4", "i5"],
      includeItemIds: Array.from({ length: 40 }, (_, item) => `i${item}`),
    };
    const lines = await lists(options);
    for (const { user_id, results } of lines) expect(results).toEqual(await called(user_id, options));
    const item = lines.find(({ results }) => results.length === 4)?.results[0]?.item;
    expect(item).toEqual({ item_id: expect.any(String), title: expect.stringMatching(/^Title/), none: null });
  });

  test("a list of users is limited to those that exist, each of them once", async () => {
    const userIds = ["u7", "nobody", "u3", "u7"];
    const job = await finished({ userIds });
    const message = "1 of 3 listed users have neither a record nor events, so they were left out.";
    expect(job.jobResult).toMatchObject({ userCount: 2, message });
    expect(job.jobData).toMatchObject({ userIds: ["nobody", "u3", "u7"], limit: 10, format: "ndjson" });
    const lines = await fetched(job.jobResult?.downloadUrl as string);
    expect(lines.map((line) => line.user_id)).toEqual(["u3", "u7"]);
  });

  test("a query selects the users that a user list contains", async () => {
    const query = { conditions: [{ attribute: "genre", value: "drama", lowerBound: 0.6 }] };
    const listing = { name: "q", projectId, modelId, queryType: "user_list" as const, queries: [query] };
    const { jobId } = await api.call("submitQueryingJob", listing);
    const { jobResult } = await api.finished(projectId, jobId);
    const listed = (await api.raw(jobResult?.downloadUrl as string)).body.queries[0].user_ids as string[];
    expect((await lists({ query })).map((line) => line.user_id)).toEqual(listed.sort());
    expect(listed.length).toBeGreaterThan(3);
  });

  test("a given model recommends without the rules of the deployment", async () => {
    const pinned = async (more: Partial<Fields>) =>
      (await lists(more)).filter(({ results }) => results[1]?.item.item_id === "i9").length;
    expect(await pinned({})).toBeGreaterThan(25);
    expect(await pinned({ modelId })).toBeLessThan(10);
  });

  test("Parquet has a row per item", async () => {
    const options = { userIds: ["u1", "u2"], attributes: ["title"], limit: 3 };
    const lines = await lists(options);
    const { jobResult } = await finished({ ...options, format: "parquet" });
    const answer = await fetch(jobResult?.downloadUrl as string);
    expect(answer.headers.get("content-type")).toBe("application/vnd.apache.parquet");
    expect(rowsOf(await answer.arrayBuffer())).toEqual(
      lines.flatMap(({ user_id, results }) =>
        results.map(({ item: { item_id, ...attributes } }, at) => ({
          ...{ user_id, position: at + 1, item_id, attributes: JSON.stringify(attributes) },
        })),
      ),
    );
  });

  test("rejects what cannot succeed", async () => {
    const query = { conditions: [{ attribute: "genre", value: "drama" }] };
    for (const [wrong, path] of [
      [{ userIds: ["u1"], query }, "query"],
      [{ filterQuery: "item.gnre ==" }, "filter_query"],
      [{ filterQuery: "item.gnre == 'x'" }, "filter_query"],
      [{ format: "csv" as never }, "format"],
    ] as [Partial<Fields>, string][])
      await expect(submit(wrong)).rejects.toMatchObject({ status: 400, error: { details: [{ path }] } });
    await expect(submit({ modelId: "model-none" })).rejects.toMatchObject({ status: 404 });
    const { projectId: other } = await openShop(api);
    await expect(submit({ projectId: other })).rejects.toMatchObject({ error: { code: "NOT_DEPLOYED" } });
    const { jobId } = await api.call("submitRecommendationJob", {
      ...{ projectId, name: "m", modelId, userIds: ["u1"] },
    });
    const wrong = `${(await api.finished(projectId, jobId)).jobResult?.downloadUrl}&format=json`;
    expect(await api.raw(wrong)).toMatchObject({ status: 400 });
  });

  test("an interrupted job continues after the users that it has written", async () => {
    const more = Array.from({ length: 5000 }, (_, at) => ({
      userId: `v${at}`,
      attributes: { age: at % 50 },
    }));
    const { userDatasetId } = shop;
    for (let from = 0; from < more.length; from += 1000)
      await api.call("upsertDatasetUsers", { userDatasetId, users: more.slice(from, from + 1000) });
    const { run } = Pool.prototype;
    const tasks: { done: readonly unknown[] }[] = [];
    const spy = jest.spyOn(Pool.prototype, "run").mockImplementation(async function (
      this: Pool,
      task,
      signal,
      onProgress,
    ) {
      if (task.kind !== "RECOMMENDATION") return run.call(this, task, signal, onProgress) as never;
      tasks.push(task as never);
      const killed = new AbortController();
      const onChunk = (chunk: unknown) => {
        onProgress?.(chunk as never);
        if (tasks.length < 3) killed.abort(new Error("The thread was killed."));
      };
      const signals = [signal, killed.signal].filter((one) => one !== undefined);
      return run.call(this, task, AbortSignal.any(signals), onChunk) as never;
    });
    const job = await finished({ limit: 2 }).finally(() => spy.mockRestore());
    expect(job.retryCount).toBe(2);
    expect(tasks.map(({ done }) => done.length)).toEqual([0, 1, 2]);
    const ids = (await fetched(job.jobResult?.downloadUrl as string)).map((line) => line.user_id);
    expect(ids).toHaveLength(records.users.length + 2 + more.length);
    expect(new Set(ids).size).toBe(ids.length);
    expect(await api.ask("select * from job_chunks")).toEqual([]);
  });

  test("leaves out users who were forgotten before and while it ran, and loses its file afterwards", async () => {
    const { eventDatasetId, userDatasetId } = shop;
    const forget = async (userId: string) => {
      await api.call("deleteDatasetUserEvents", { eventDatasetId, userId });
      await api.call("deleteDatasetUser", { userDatasetId, userId });
    };
    await forget("u5");
    const { run } = Pool.prototype;
    const left = ["u6", "u7"];
    const spy = jest.spyOn(Pool.prototype, "run").mockImplementation(async function (
      this: Pool,
      task,
      ...others
    ) {
      const result = await run.call(this, task, ...others);
      // Once after the lists were computed, and once after the file was written.
      const isOurs = task.kind === "RECOMMENDATION" || task.kind === "RECOMMENDATION_FILE";
      if (isOurs && left[0] !== undefined) await forget(left.shift() as string);
      return result as never;
    });
    const userIds = ["u4", "u5", "u6", "u7", "u8"];
    const job = await finished({ userIds }).finally(() => spy.mockRestore());
    expect(job).toMatchObject({ retryCount: 0, jobData: { userIds: ["u4", "u5", "u8"] } });
    const url = job.jobResult?.downloadUrl as string;
    expect((await fetched(url)).map((line) => line.user_id)).toEqual(["u4", "u8"]);
    await forget("u8");
    expect(await api.raw(url)).toMatchObject({ status: 404 });
    expect(await api.ask("select user_id from job_users where user_id = 'u8'")).toEqual([]);
  });
});

testInDirectory("a result that is larger than the memory of the thread is written in parts", async () => {
  const api = await Running.start();
  const records = shopRecords({ users: 1000 });
  for (const item of records.items) item.attributes.title = item.attributes.title.repeat(40);
  const shop = await openShop(api, records);
  const modelId = await trainModel(api, shop);
  const { projectId, userDatasetId } = shop;
  const more = Array.from({ length: 5000 }, (_, at) => ({ userId: `v${at}`, attributes: { age: at % 50 } }));
  for (let from = 0; from < more.length; from += 1000)
    await api.call("upsertDatasetUsers", { userDatasetId, users: more.slice(from, from + 1000) });
  const { run } = Pool.prototype;
  const spy = jest.spyOn(Pool.prototype, "run").mockImplementation(async function (
    this: Pool,
    task,
    signal,
    onProgress,
  ) {
    if (!task.kind.startsWith("RECOMMENDATION")) return run.call(this, task, signal, onProgress) as never;
    return inSmallThread(this, task, onProgress as (chunk: unknown) => void) as never;
  });
  const fields = { name: "mail", projectId, modelId, limit: 60, attributes: ["title", "genre"] };
  const { jobId } = await api.call("submitRecommendationJob", fields);
  const { jobResult, jobStatus } = await api.finished(projectId, jobId).finally(() => spy.mockRestore());
  expect([jobStatus, jobResult?.userCount]).toEqual(["SUCCEED", 6000]);
  const { text } = await api.raw(jobResult?.downloadUrl as string);
  expect(text.length).toBeGreaterThan(2 * heapMb * 2 ** 20);
  await api.end();
});

const heapMb = 48;

/** Runs a task in a thread with little memory. */
function inSmallThread(pool: Pool, task: object, onChunk: (chunk: unknown) => void): Promise<unknown> {
  const { store, files } = (pool as unknown as { context: ServiceContext }).context;
  const worker = new Worker(require.resolve("../../../dist/service/batch/worker.js"), {
    workerData: { database: store.location, location: files.location },
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 6 },
  });
  return new Promise<unknown>((resolve, reject) => {
    worker.on("error", reject);
    worker.on("message", (message: { progress?: unknown; result?: unknown; message?: string }) => {
      if ("progress" in message) onChunk(message.progress);
      else if (message.message !== undefined) reject(new Error(message.message));
      else resolve(message.result);
    });
    worker.postMessage(task);
  }).finally(() => worker.terminate());
}

/** Reads a Parquet file in a separate process, because jest cannot load the ES module. */
function rowsOf(file: ArrayBuffer): unknown[] {
  const code = `const { parquetReadObjects } = await import("hyparquet");
    const bytes = require("node:fs").readFileSync(0);
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    console.log(JSON.stringify(await parquetReadObjects({ file })));`;
  const asked = { input: Buffer.from(file), encoding: "utf8" } as const;
  return JSON.parse(execFileSync(process.execPath, ["-e", `(async () => { ${code} })()`], asked));
}
