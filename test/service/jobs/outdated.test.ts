import { Pool } from "../../../service/threads/pool";
import { testInDirectory } from "../database";
import { trainModel } from "../shop";
import { eventually, openWatched, settled } from "./watched";

/** Runs a clustering and forgets a user during each of its first runs. Returns the job and the number of runs. */
async function openOutdated({ outdated, retryDelayMs }: { outdated: number; retryDelayMs: number }) {
  const { api, clock, shop, read, end } = await openWatched({ retryDelayMs });
  const modelId = await trainModel(api, shop);
  const { projectId, eventDatasetId } = shop;
  const { run } = Pool.prototype;
  let runs = 0;
  const spy = jest.spyOn(Pool.prototype, "run").mockImplementation(async function (this: Pool, task) {
    const result = await run.call(this, task);
    // Forgetting a user runs a task in a thread too.
    if (task.kind !== "CLUSTERING") return result as never;
    const userId = `u${runs++}`;
    if (runs <= outdated) await api.call("deleteDatasetUserEvents", { eventDatasetId, userId });
    return result as never;
  });
  const wanted = { name: "groups", projectId, modelId, parameters: {} };
  const { jobId } = await api.call("submitClusteringJob", wanted);
  return {
    clock,
    runs: () => runs,
    job: () => read(jobId),
    end: async () => {
      spy.mockRestore();
      await end();
    },
  };
}

test("a job fails after ten runs if users are deleted during each of them, and its message says what to do", async () => {
  const { runs, job, end } = await openOutdated({ outdated: 20, retryDelayMs: 0 });
  await eventually(async () => ["SUCCEED", "FAILED"].includes((await job()).jobStatus));
  expect(await job()).toMatchObject({
    jobStatus: "FAILED",
    retryCount: 0,
    jobResult: { message: expect.stringMatching(/deleted during 10 runs of the job. Submit it again when/) },
  });
  expect(runs()).toBe(10);
  await end();
});

// With PostgreSQL, the clock of the database decides, which a test cannot move.
testInDirectory(
  "a job during whose run users are deleted waits before it runs again, each time longer",
  async () => {
    const { clock, runs, job, end } = await openOutdated({ outdated: 2, retryDelayMs: 1000 });
    const expectPauseOf = async (ms: number, run: number) => {
      await eventually(async () => runs() === run && (await job()).jobStatus === "PENDING");
      clock.advance(ms - 1);
      await settled();
      expect(runs()).toBe(run);
      clock.advance(1);
    };
    await expectPauseOf(1000, 1);
    await expectPauseOf(2000, 2);
    await eventually(async () => (await job()).jobStatus === "SUCCEED");
    expect([runs(), (await job()).retryCount]).toEqual([3, 0]);
    await end();
  },
);
