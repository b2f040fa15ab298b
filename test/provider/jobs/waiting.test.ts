import { usualTime } from "../../../client/job";
import { readSettings } from "../../../client/settings";
import { routes } from "../../../contract";
import { finishJob, jobKinds } from "../../../provider/jobs/jobs";
import type { Context } from "../../../provider/run/context";
import { log } from "../../../provider/run/engine";
import { Run } from "../../../provider/run/session";
import { type Answer, clientOf, reply, scriptedServer } from "../../client/server";

let server: Awaited<ReturnType<typeof scriptedServer>>;
beforeAll(() => {
  // Without an engine, messages of a lifecycle go to the terminal.
  jest.spyOn(console, "log").mockImplementation();
});
afterEach(() => server?.close());

const job = (status: string, more: object = {}): Answer => reply(200, { job_status: status, ...more });

async function wait(answers: Answer[], kind: keyof typeof jobKinds = "training", config: object = {}) {
  server = await scriptedServer(...answers);
  const { client, clock } = clientOf(server);
  const stack: Record<string, string> = { ...config, baseUrl: server.url, apiKey: "k", accessToken: "t" };
  const settings = readSettings((key) => stack[key], {});
  const context: Context = { client, clock, settings, run: new Run(), urn: undefined, title: "Model m" };
  const submitAgain = async () => (await client.call(routes.submitTrainingJob, training)).jobId;
  const waiting = finishJob(context, { kind: jobKinds[kind], projectId: "p", jobId: "j", submitAgain });
  return { outcome: await waiting.catch((error: Error) => error), slept: clock.slept };
}
const training = { projectId: "p", algorithmId: "a", name: "n" };
const looks = () => server.arrived.filter(({ path }) => path === "/get-job").length;

describe("waiting for a job", () => {
  test("backs off from 1 s to 30 s and continues on an unknown status", async () => {
    const words = ["QUEUED", "IN_PROGRESS", "ALMOST", ...Array<string>(27).fill("RUNNING")];
    const { slept } = await wait([...words.map((word) => job(word)), job("SUCCEED")]);
    expect(slept[0]).toBe(1000);
    expect(slept.every((pause, at) => at === 0 || pause >= slept[at - 1])).toBe(true);
    expect(slept.at(-1)).toBe(30_000);
    expect(looks()).toBe(31);
  });

  test("sends at most 150 calls per hour", async () => {
    const { outcome } = await wait([job("RUNNING")], "training", { trainingTimeout: "1h" });
    expect((outcome as Error).message).toMatch(/is still RUNNING after 1 hour/);
    expect(looks()).toBeLessThanOrEqual(150);
  });

  test.each(["training", "deployment", "querying", "clustering"] as const)(
    "for %s has a separate time limit, and the error explains how to raise it",
    async (kind) => {
      const { outcome } = await wait([job("RUNNING")], kind, { [`${kind}Timeout`]: "90s" });
      const message = (outcome as Error).message;
      expect(message).toMatch(new RegExp(`${kind} job j is still RUNNING after 2 minutes`));
      expect(message).toContain(`pulumi config set recommender:${kind}Timeout`);
    },
  );

  test("shows the status at each poll, and the final status", async () => {
    const told = jest.spyOn(log, "progress").mockResolvedValue();
    const progress = { phase: "search", fraction: 0.427, ndcg_at20: 0.25 };
    await wait([
      job("PENDING"),
      job("RUNNING", { retry_count: 1, job_data: { progress } }),
      job("SUCCEED", { retry_count: 1 }),
    ]);
    expect(told.mock.calls.map(([, message]) => message)).toEqual([
      "PENDING 0ms: training j",
      "RUNNING 1s, retried 1× (search 42 %, NDCG@20 0.2500 so far): training j",
      "SUCCEED after 2s, retried 1×: training j",
    ]);
    told.mockRestore();
  });

  test("shows nothing for a job that has ended at the first poll", async () => {
    const told = jest.spyOn(log, "progress").mockResolvedValue();
    await wait([job("SUCCEED")]);
    expect(told).not.toHaveBeenCalled();
    told.mockRestore();
  });

  test.each([
    ["https://api.example.com", "10 to 300 minutes"],
    ["https://localhost.example.com", "10 to 300 minutes"],
    ["embedded:.recommender", undefined],
    ["http://127.0.0.1:8080", undefined],
    ["http://localhost:8080/api", undefined],
    ["http://[::1]:8080", undefined],
  ])("at %s usually takes %s", (baseUrl, usually) => {
    expect(usualTime(jobKinds.training, { baseUrl })).toBe(usually);
  });

  test("continues after temporary errors", async () => {
    const { outcome } = await wait([job("RUNNING"), reply(503), reply(429), job("RUNNING"), job("SUCCEED")]);
    expect(outcome).toMatchObject({ jobStatus: "SUCCEED", id: "j" });
  });

  test.each([
    ["a status that is configured as failed", "EXPLODED", { failedJobStatuses: "exploded" }],
    ["CANCELLED", "CANCELLED", {}],
  ])("fails at %s, with the reason of the job", async (_, word, config) => {
    const failed = job(word, { job_result: { message: "no space" }, retry_count: 3 });
    const { outcome } = await wait([job("RUNNING"), failed], "training", config);
    expect((outcome as Error).message).toMatch(
      /training job j failed after 3 retries by the service: no space/,
    );
  });

  test("submits the job again if it no longer exists in the service", async () => {
    const forgotten = reply(404, { error: { code: "NOT_FOUND", message: "There is no job j." } });
    const again = [forgotten, reply(200, { job_id: "j2" }), job("SUCCEED")];
    const { outcome } = await wait(again);
    expect(outcome).toMatchObject({ id: "j2" });
  });
});
