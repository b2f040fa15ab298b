import type { ChildProcess } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Release } from "../../cli/release/history";
import { Environments } from "./environments";

/** Few answers are enough, so that the test is fast. */
const policy = `promotion:
  stages:
    staging:
      watch: { for: 1s, every: 20ms, maxErrors: 1% }
`;

describe("a watched promotion, through the real engine", () => {
  let at: Environments;
  beforeAll(async () => {
    at = await Environments.make(["dev", "staging"]);
    await writeFile(join(at.workspace.directory, "recommender.yaml"), policy);
    await at.commit("Policy");
    await at.recommender("release", "dev");
    await at.commit("Release dev-1");
    at.submissions("staging");
  });
  afterAll(() => at.dispose());

  /** Kills a command and its children when it prints a text. */
  const killAt = (child: ChildProcess, text: string) =>
    new Promise<void>((resolve, reject) => {
      let [output, isKilled] = ["", false];
      child.stderr?.on("data", (part) => {
        output += part;
        if (!output.includes(text) || isKilled) return;
        isKilled = true;
        process.kill(-(child.pid as number), "SIGKILL");
      });
      child.once("close", (code) =>
        code === null ? resolve() : reject(new Error(`the command ended before it was killed: ${output}`)),
      );
    });

  test("passes if no limit is violated, and the history has the measurements", async () => {
    const review = await at.promote("dev", "staging", "--yes");
    expect(review).toMatchObject({ code: 0, verdict: "done" });
    const [entry] = await at.released("staging");
    expect(entry).toMatchObject({
      status: "done",
      watch: {
        state: "passed",
        forMs: 1000,
        observedMs: 1000,
        limits: { maxErrors: 0.01 },
        before: {},
        now: { live: { errors: 0, empty: 0, popularity: expect.any(Number), latencyMs: expect.any(Number) } },
      },
    });
    expect(entry?.watch?.now?.live?.answers).toBeGreaterThanOrEqual(10);
    expect(at.submissions("staging")).toEqual(["POST /submit-training-job", "POST /submit-deployment-job"]);
    await at.commit("Promote dev-1");
  });

  test("is killed while it watches and while it rolls back, and ends with the former models after one switch each", async () => {
    const { model: former } = await at.state("staging");
    await at.stacks.staging.setConfig("retrainedAt", { value: "again" });
    await at.commit("Train again");
    const command = ["promote", "dev", "staging", "--yes", "--watch", "30m"];
    await killAt(at.start(...command), "staging-2: ");
    const { model } = await at.state("staging");
    expect(await at.deployedBy("staging")).toBe(model);
    expect(await at.released("staging")).toMatchObject([
      {},
      { id: "staging-2", status: "done", watch: { state: "watching", before: { live: { errors: 0 } } } },
    ]);
    // Nothing else may begin while it is watched.
    const other = await at.recommender("retrain", "staging");
    expect(other).toMatchObject({
      code: 1,
      err: expect.stringContaining("staging-2 (promote) of staging has not ended"),
    });

    const path = "/recommend-items-to-user";
    await at.services.staging.faults({ calls: [{ path, status: 503, times: 3 }] });
    await killAt(at.start(...command), "Deploying the models of staging-1");
    const violated = (await at.released("staging")) as Release[];
    expect(violated[1]?.watch?.violation).toMatch(/answers of live were errors, at most 1 % are allowed/);

    const review = await at.promote("dev", "staging", "--yes");
    expect(review).toMatchObject({ code: 2, verdict: "failed", resumed: "staging-2" });
    expect(review.release?.reason).toMatch(
      /^The watch found that .* were errors.* It was rolled back as staging-3\.$/,
    );
    expect(await at.released("staging")).toMatchObject([
      { id: "staging-1", status: "done" },
      { id: "staging-2", status: "failed", watch: { state: "failed" } },
      {
        id: "staging-3",
        action: "rollback",
        status: "done",
        watched: "staging-2",
        from: { release: "staging-1" },
      },
    ]);
    expect(at.submissions("staging")).toEqual([
      "POST /submit-training-job",
      "POST /submit-deployment-job",
      "POST /submit-deployment-job",
    ]);
    expect(await at.deployedBy("staging")).toBe(former);
  });

  test("can be followed by a watch of what is live now", async () => {
    const { code, out } = await at.recommender("watch", "staging", "--json");
    expect({ code, ...(JSON.parse(out) as Release) }).toMatchObject({
      code: 0,
      id: "staging-3",
      watch: { state: "passed", now: { live: { errors: 0 } } },
    });
    expect(at.submissions("staging")).toEqual([]);
  });
});
