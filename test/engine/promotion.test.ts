import { once } from "node:events";
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { compareStack } from "../../cli/drift/compare";
import { OpenStack } from "../../cli/stack/open";
import { routes } from "../../contract";
import { Environments } from "./environments";

describe("from dev to staging to prod, each with a separate service", () => {
  let at: Environments;
  beforeAll(async () => {
    at = await Environments.make();
  });
  afterAll(() => at.dispose());

  test("a release records the state of dev, without secrets and paths", async () => {
    const { code, out } = await at.recommender("release", "dev");
    expect({ code, out }).toEqual({
      code: 0,
      out: "Wrote release dev-1 to releases/dev.json. Commit the file.\n",
    });
    const { model } = await at.state("dev");
    const [release] = await at.released("dev");
    const { stdout: head } = await at.git("rev-parse", "HEAD");
    expect(release).toMatchObject({
      program: { commit: head.trim(), dirty: false },
      contents: {
        records: [{ name: "history", recordCount: 240, contentHash: expect.stringMatching(/^sha256:/) }],
        models: [
          {
            name: "weekly",
            modelId: model,
            trainedParameters: { dimensions: 8, epochs: expect.any(Number) },
          },
        ],
        deployments: [
          { name: "live", generator: { modelId: model, model: "weekly" }, check: { result: "passed" } },
        ],
      },
    });
    const text = JSON.stringify(release);
    expect(text).not.toContain(at.services.dev.service.key);
    expect(text).not.toContain(at.workspace.directory);
    await at.commit("Release dev-1");
  });

  test("a promotion trains and deploys in staging with one job each, and is recorded", async () => {
    const review = await at.promote("dev", "staging", "--yes");
    expect(review).toMatchObject({ code: 0, verdict: "done", reasons: [] });
    expect(at.submissions("staging")).toEqual(["POST /submit-training-job", "POST /submit-deployment-job"]);
    const origin = { project: "test", stack: "staging", release: "staging-1" };
    expect(await at.services.staging.origins()).toEqual([
      { ...origin, resource: "weekly" },
      { ...origin, resource: "live" },
    ]);
    const { model } = await at.state("staging");
    expect(await at.released("staging")).toMatchObject([
      {
        id: "staging-1",
        status: "done",
        from: { stack: "dev", release: "dev-1" },
        contents: { deployments: [{ generator: { modelId: model }, check: { result: "passed" } }] },
      },
    ]);
    const [quality] = review.quality;
    expect(quality?.now).toBeGreaterThanOrEqual(quality?.floor as number);
    expect(quality?.floor).toBeCloseTo(0.9 * (quality?.from as number), 6);
    await at.commit("Promote dev-1 to staging");
  });

  test("code only for staging is not applied under the commit of an older release", async () => {
    const file = join(at.workspace.directory, "index.js");
    const slipped = `if (pulumi.getStack() === "staging") new recommender.EventDataset("slipped", { numShards: 1 });\n`;
    await appendFile(file, slipped);
    await at.commit("For staging alone");
    const refused = await at.promote("dev", "staging", "--yes");
    expect(refused).toMatchObject({ code: 2, verdict: "refused", difference: { files: ["index.js"] } });
    expect(refused.reasons.map(({ code }) => code)).toEqual(["commit"]);
    expect(refused.difference?.diff).toContain(`+${slipped.trim()}`);
    // The printed fix.
    expect(refused.reasons[0]?.fix).toContain("`recommender release dev`");
    expect((await at.recommender("release", "dev")).code).toBe(0);
    const head = (await at.git("rev-parse", "HEAD")).stdout.trim();
    expect((await at.released("dev")).at(-1)).toMatchObject({ id: "dev-2", program: { commit: head } });
    await at.commit("Release dev-2");
    const review = await at.promote("dev", "staging");
    expect(review).toMatchObject({
      code: 0,
      verdict: "ready",
      source: { id: "dev-2", program: { commit: head } },
    });
    expect(at.submissions("staging")).toEqual([]);
    await at.setProgram("w1");
    await at.commit("Nothing for staging alone");
    expect((await at.recommender("release", "dev")).code).toBe(0);
    await at.commit("Release dev-3");
  });

  test("a promotion that is killed during the training in prod is resumed by the same command, without another training", async () => {
    const child = at.start("promote", "staging", "prod", "--yes");
    // The training job is in the state, and its model is waited for.
    const checkpoint = join(at.workspace.directory, "state/.pulumi/stacks/test/prod.json");
    const waits = async () => {
      const text = await readFile(checkpoint, "utf8").catch(() => "");
      return /"pending_operations"[\s\S]*recommender:Model/.test(text);
    };
    while (!(await waits())) {
      if (child.exitCode !== null) throw new Error("the promotion ended before it was killed");
      await sleep(20);
    }
    process.kill(-(child.pid as number), "SIGKILL");
    await once(child, "close");
    expect(await at.released("prod")).toMatchObject([{ id: "prod-1", status: "running" }]);

    const review = await at.promote("staging", "prod", "--yes");
    expect(review).toMatchObject({ code: 0, verdict: "done", resumed: "prod-1" });
    expect(review.err).toMatch(
      /The engine that locked stack prod \(process \d+\) has ended. Removing its lock/,
    );
    expect(at.submissions("prod")).toEqual(["POST /submit-training-job", "POST /submit-deployment-job"]);
    expect(await at.released("prod")).toMatchObject([{ id: "prod-1", status: "done" }]);
    await at.commit("Promote staging-1 to prod");
  });

  test("a promotion from dev with drift, pending changes or uncommitted files is rejected with the reason", async () => {
    const { eventDatasets } = await at.services.dev.call(routes.listEventDatasets, {});
    const dataset = { eventDatasetId: eventDatasets[0]?.eventDatasetId ?? "", attributeSchema: null };
    await at.services.dev.call(routes.updateEventDataset, { ...dataset, name: "by hand" });
    await at.setProgram("w2");
    const refused = await at.promote("dev", "staging", "--yes", "--allow", "uncommitted");
    expect(refused).toMatchObject({ code: 2, verdict: "refused" });
    expect(refused.reasons.map(({ code, allowed }) => [code, allowed])).toEqual([
      ["drift", false],
      ["changes", false],
      ["uncommitted", true],
    ]);
    expect(refused.reasons[0]?.words).toContain("EventDataset events (changed)");
    expect(refused.reasons[1]?.words).toContain("Model weekly (replaced)");
    expect(at.submissions("staging")).toEqual([]);
    expect(await at.released("staging")).toHaveLength(1);
    await at.services.dev.call(routes.updateEventDataset, { ...dataset, name: "events" });
    await at.stacks.dev.up();
    await at.commit("w2");
    expect((await at.recommender("release", "dev")).code).toBe(0);
    await at.commit("Release dev-2");
  });

  test("a model below the minimum quality is not deployed, and a failed check restores the previous model", async () => {
    const { model: former } = await at.state("staging");
    const short = await at.promote("dev", "staging", "--yes", "--min-quality-ratio", "1.2");
    expect(short).toMatchObject({ code: 2, verdict: "failed" });
    expect(short.release?.reason).toMatch(
      /Model weekly: model \S+ is not good enough.*The previous models are live/,
    );
    expect(at.submissions("staging")).toEqual(["POST /submit-training-job"]);

    await at.stacks.staging.setConfig("minResults", { value: "1000" });
    const failed = await at.promote("dev", "staging", "--yes", "--allow", "uncommitted");
    expect(failed).toMatchObject({ code: 2, verdict: "failed" });
    expect(failed.release?.reason).toMatch(
      /Deployment live: the check failed: .* rolled back to the previous models by job \S+\. The previous models are live/,
    );
    // The earlier training is used. One job deploys its model, another one restores the previous model.
    expect(at.submissions("staging")).toEqual(["POST /submit-deployment-job", "POST /submit-deployment-job"]);
    const { deployment, model } = await at.state("staging");
    expect(model).not.toBe(former);
    expect(deployment.generatorModelId).toBe(former);
    expect(await at.deployedBy("staging")).toBe(former);
    expect((await at.released("staging")).map(({ status }) => status)).toEqual(["done", "failed", "failed"]);
    // The entry of the previous model waits for deletion under the URN of the new one, which is not deployed yet.
    const env = at.workspace.stack.workspace.envVars;
    const report = await compareStack(
      await OpenStack.open({ cwd: at.workspace.directory, stack: "staging", env }),
    );
    expect(report.unmanaged).toEqual([]);
    expect(report.changes).toMatchObject([{ kind: "changed", resource: { name: "live" } }]);
    await at.stacks.staging.removeConfig("minResults");
  });

  test("a rollback deploys the previous model without a training, and program, state and service agree", async () => {
    const promoted = await at.promote("dev", "staging", "--yes", "--allow", "uncommitted");
    expect(promoted).toMatchObject({ code: 0, verdict: "done" });
    const { model: newer } = await at.state("staging");
    expect(await at.deployedBy("staging")).toBe(newer);
    const [first] = await at.released("staging");
    const older = first?.contents?.deployments[0]?.generator.modelId;
    at.submissions("staging");

    const review = await at.recommender("rollback", "staging");
    expect(review).toMatchObject({
      code: 0,
      out: expect.stringContaining("would roll back staging to staging-1"),
    });
    expect(review.out).toContain("Apply it with `recommender rollback staging --yes`.");
    expect(at.submissions("staging")).toEqual([]);
    expect(await at.deployedBy("staging")).toBe(newer);

    const listed = await at.recommender("models", "list", "--stack", "staging", "--json");
    const { models } = JSON.parse(listed.out) as { models: { modelId: string; servedBy: string[] }[] };
    expect(models.find(({ modelId }) => modelId === newer)).toMatchObject({
      servedBy: ["live"],
      quality: {
        ndcgAt20: expect.any(Number),
        popularityNdcgAt20: expect.any(Number),
        heldOutPairs: expect.any(Number),
      },
    });
    // The retained model is no longer in the state.
    expect(models.find(({ modelId }) => modelId === older)).toMatchObject({
      servedBy: [],
      quality: { ndcgAt20: expect.any(Number), heldOutPairs: expect.any(Number) },
    });
    const table = await at.recommender("models", "list", "--stack", "staging");
    expect(table.out).toMatch(/^ID +NAME +CREATED +NDCG@20 +POPULAR +PAIRS +SERVES\n/);
    expect((await at.recommender("models", "get", String(newer), "--stack", "staging")).out).toMatch(
      /^NDCG@20 +\d\.\d{4} \(popular items \d\.\d{4}, \d+ (latest )?pairs? held out(: uncertain)?\)\n(.+@20 .+\n){4}served by +live$/m,
    );

    const { code, out } = await at.recommender("rollback", "staging", "--yes");
    expect({ code, out }).toMatchObject({
      code: 0,
      out: expect.stringContaining(`live: ${older}, check passed\n    before: ${newer}`),
    });
    expect(at.submissions("staging")).toEqual(["POST /submit-deployment-job"]);
    expect(await at.deployedBy("staging")).toBe(older);
    expect((await at.released("staging")).at(-1)).toMatchObject({
      action: "rollback",
      status: "done",
      from: { release: "staging-1" },
    });
    // The rollback does not wait for models of the program, and does not fail with them.
    const pinned = (await at.released("staging")).at(-1)?.contents?.deployments[0]?.generator;
    expect(pinned).toMatchObject({ modelId: older });
    expect(pinned).not.toHaveProperty("model");
    const env = at.workspace.stack.workspace.envVars;
    const open = await OpenStack.open({ cwd: at.workspace.directory, stack: "staging", env });
    const report = await compareStack(open);
    expect({ changes: report.changes, drift: report.drift }).toEqual({ changes: [], drift: [] });
    expect(report.warnings.join()).toContain(`recommender:pinnedModels keeps ${older} live`);
    expect(report.warnings.join()).toContain(
      "Remove the pin with `recommender rollback staging --undo --yes`",
    );

    expect((await at.recommender("rollback", "staging", "--undo", "--yes")).code).toBe(0);
    expect(at.submissions("staging")).toEqual(["POST /submit-deployment-job"]);
    expect(await at.deployedBy("staging")).toBe(newer);
  });

  test("a release of a stack on the plugin records each change of an update once", async () => {
    await at.setProgram("w3");
    await at.commit("w3");
    const { model: former } = await at.state("staging");
    await at.stacks.staging.up();
    const { model } = await at.state("staging");
    expect(model).not.toBe(former);
    const count = (await at.released("staging")).length;
    const { code, out } = await at.recommender("release", "staging");
    expect({ code, out }).toEqual({
      code: 0,
      out: `Wrote release staging-${count + 1} to releases/staging.json. Commit the file.\n`,
    });
    const release = (await at.released("staging")).at(-1);
    expect(release).toMatchObject({
      action: "release",
      status: "done",
      contents: {
        records: [{ name: "history", recordCount: 240 }],
        models: [{ name: "weekly", modelId: model, trainedParameters: { dimensions: 8 } }],
        deployments: [
          { name: "live", generator: { modelId: model, model: "weekly" }, check: { result: "passed" } },
        ],
      },
    });
    const text = JSON.stringify(release);
    expect(text).not.toContain(at.services.staging.service.key);
    expect(text).not.toContain(at.workspace.directory);
    await at.commit(`Release staging-${count + 1}`);
    const again = await at.recommender("release", "staging");
    expect(again.out).toBe(`Release staging-${count + 1} still matches staging\n`);
  });
});
