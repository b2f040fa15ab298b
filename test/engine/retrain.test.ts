import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Retraining } from "../../cli/retrain/retrain";
import { routes } from "../../contract";
import { Environments } from "./environments";

describe("recommender retrain, through the real engine", () => {
  let at: Environments;
  beforeAll(async () => {
    at = await Environments.make(["dev"]);
    at.submissions("dev");
  });
  afterAll(() => at.dispose());

  const retrain = async (...args: string[]) => {
    const { code, out, err } = await at.recommender("retrain", "dev", ...args, "--json");
    if (code === 1) throw new Error(err);
    return { code, ...(JSON.parse(out) as Retraining) };
  };
  const scheduled = ["--if-older", "7d", "--if-new-events", "5%"];
  const config = () => readFile(join(at.workspace.directory, "Pulumi.dev.yaml"), "utf8");

  /** Runs `work` with another journal, with the committed configuration and without the history of the killed run. */
  async function onAnotherMachine<T>(committed: string, work: () => Promise<T>): Promise<T> {
    const { directory, stack } = at.workspace;
    const [settings, history] = ["Pulumi.dev.yaml", "releases/dev.json"].map((file) => join(directory, file));
    const kept = await Promise.all([settings, history].map((file) => readFile(file as string)));
    const { envVars } = stack.workspace;
    stack.workspace.envVars = { ...envVars, XDG_STATE_HOME: join(directory, "another-machine") };
    await writeFile(settings as string, committed);
    await rm(history as string);
    await at.stacks.dev.cancel();
    try {
      return await work();
    } finally {
      stack.workspace.envVars = envVars;
      await writeFile(settings as string, kept[0] as Buffer);
      await writeFile(history as string, kept[1] as Buffer);
    }
  }

  test("does nothing while no model is stale", async () => {
    const { model } = await at.state("dev");
    const outcome = await retrain(...scheduled);
    expect(outcome).toMatchObject({ code: 0, verdict: "not due", because: [] });
    expect(outcome.models).toEqual([
      {
        modelId: model,
        model: "weekly",
        deployments: ["live"],
        trainedAt: expect.stringMatching(/^20/),
        eventCount: 240,
        newEventCount: 0,
      },
    ]);
    await expect(at.released("dev")).rejects.toThrow(/ENOENT/);
  });

  test("reports a stale model as a warning in drift, with the limits of the policy", async () => {
    const { eventDatasets } = await at.services.dev.call(routes.listEventDatasets, {});
    const events = Array.from({ length: 20 }, (_, n) => {
      return {
        eventId: `n${n}`,
        userId: `u${n}`,
        itemId: `i${n % 24}`,
        ts: 1_770_000_000_000 + n,
        eventType: "purchase",
      };
    });
    const eventDatasetId = eventDatasets[0]?.eventDatasetId ?? "";
    await at.services.dev.call(routes.upsertDatasetEvents, { eventDatasetId, events });
    const policy = join(at.workspace.directory, "recommender.yaml");
    await writeFile(policy, "retrain:\n  ifNewEvents: 5%\n");
    const { code, out } = await at.recommender("drift", "--stack", "dev", "--json");
    const { stacks } = JSON.parse(out) as { stacks: { warnings: string[] }[] };
    expect({ code, warnings: stacks[0]?.warnings }).toEqual({
      code: 0,
      warnings: [
        "Model weekly is stale: 8.3 % more events since its training. " +
          "Train it again with `recommender retrain dev`.",
      ],
    });
    // Without limits, the later retrainings are always due.
    await rm(policy);
  });

  test("that is killed during the training is completed by two runs at once, without another training", async () => {
    const { model: former } = await at.state("dev");
    const committed = await config();
    await at.services.dev.holdJobs();
    const child = at.start("retrain", "dev", "--if-new-events", "5%");
    const submitted: string[] = [];
    while (submitted.length === 0) {
      if (child.exitCode !== null) throw new Error("the retraining ended before it was killed");
      submitted.push(...at.submissions("dev"));
      await sleep(20);
    }
    process.kill(-(child.pid as number), "SIGKILL");
    await once(child, "close");
    expect(await at.released("dev")).toMatchObject([{ id: "dev-1", action: "retrain", status: "running" }]);
    await at.services.dev.releaseJobs();

    const asked = await onAnotherMachine(committed, () => retrain(...scheduled));
    expect(asked).toMatchObject({ code: 2, verdict: "failed" });
    expect(asked.release?.reason).toContain("killed during this call on another machine");
    expect(at.submissions("dev")).toEqual([]);

    const runs = await Promise.all([retrain(...scheduled), retrain(...scheduled)]);
    // The second run waits for the first, and then finds a new model.
    expect(runs.map(({ code, verdict, resumed }) => [code, verdict, resumed]).sort()).toEqual([
      [0, "done", "dev-1"],
      [0, "not due", undefined],
    ]);
    expect([...submitted, ...at.submissions("dev")]).toEqual([
      "POST /submit-training-job",
      "POST /submit-deployment-job",
    ]);
    const { model } = await at.state("dev");
    expect(model).not.toBe(former);
    expect(await at.deployedBy("dev")).toBe(model);
    const history = await at.released("dev");
    expect(history).toMatchObject([
      {
        id: "dev-1",
        action: "retrain",
        status: "done",
        retraining: { key: "test:retrainedAt", because: [expect.stringContaining("8.3 % more events")] },
        before: [{ generator: { modelId: former, quality: { ndcgAt20: expect.any(Number) } } }],
        contents: { deployments: [{ generator: { modelId: model }, check: { result: "passed" } }] },
      },
    ]);
    expect(await config()).toContain(history[0]?.retraining?.value);
    expect((await retrain(...scheduled)).verdict).toBe("not due");
  });

  test("keeps the live model if the quality is too low, also in the next update, and trains only once", async () => {
    const { model: former } = await at.state("dev");
    at.submissions("dev");
    const failed = await retrain("--min-quality-ratio", "1.2");
    expect(failed).toMatchObject({ code: 2, verdict: "failed" });
    expect(failed.release?.reason).toMatch(/not good enough.*The previous models are live/);
    expect(at.submissions("dev")).toEqual(["POST /submit-training-job"]);
    await at.stacks.dev.up();
    expect(at.submissions("dev")).toEqual([]);
    expect(await at.deployedBy("dev")).toBe(former);
    const { model } = await at.state("dev");
    expect(model).not.toBe(former);
    // The attempt counts, and its trigger is used again, so the trained model goes live without another training.
    const again = await retrain("--if-new-events", "0%");
    expect(again).toMatchObject({ code: 0, verdict: "done" });
    expect(await at.deployedBy("dev")).toBe((await at.state("dev")).model);
    expect(await config()).not.toContain("pinnedModels");
  });

  test("is refused if the program has other changes, and fails if no model uses the trigger", async () => {
    const before = await config();
    at.submissions("dev");
    const unused = await retrain("--trigger", "unused");
    expect(unused).toMatchObject({ code: 2, verdict: "failed" });
    expect(unused.release?.reason).toContain("no model of the program uses the trigger test:unused");
    expect(await config()).toBe(before);
    await at.setProgram("w2");
    const refused = await retrain();
    expect(refused).toMatchObject({
      code: 2,
      verdict: "refused",
      reasons: [{ code: "changes", allowed: false }],
    });
    expect(at.submissions("dev")).toEqual([]);
    const shown = await at.recommender("releases", "dev");
    expect(shown.out).toMatch(/dev-1 +\S+ \S+ +retrain .* done/);
  });
});
