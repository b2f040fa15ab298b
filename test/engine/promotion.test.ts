import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { compareStack } from "../../cli/drift/compare";
import type { Review } from "../../cli/promote/review";
import type { History, Release } from "../../cli/release/file";
import { routes } from "../../contract";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

const run = promisify(execFile);
const command = join(__dirname, "../../dist/cli/main.js");
const limit = 300_000;

/** What is the same everywhere; the check is the configuration of each stack. JavaScript, for it is run many times. */
const program = (trigger: string) => `
const pulumi = require("@pulumi/pulumi");
const recommender = require("pulumi-recommender");
const users = new recommender.UserDataset("users", { numShards: 1 });
const items = new recommender.ItemDataset("items", { numShards: 1 });
const events = new recommender.EventDataset("events", { numShards: 1 });
const history = new recommender.EventRecords("history", { eventDatasetId: events.id, source: "events.csv" });
const project = new recommender.Project("shop", {
  userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "purchase",
});
const algorithm = new recommender.Algorithm("g1", { projectId: project.id, algorithmParameters: { dimensions: 8 } });
const model = new recommender.Model("weekly", {
  projectId: project.id, algorithmId: algorithm.id, triggers: [history.contentHash, "${trigger}"],
}, { retainOnDelete: true });
new recommender.Deployment("live", {
  projectId: project.id, generatorModelId: model.modelId, qps: 100,
  check: { userIds: ["u1"], minResults: new pulumi.Config().getNumber("minResults") ?? 3 },
});
`;

type Name = "dev" | "staging" | "prod";

describe("from dev to staging to prod, each with a service of its own", () => {
  const services = {} as Record<Name, ObservedService>;
  const stacks = {} as Record<Name, Stack>;
  let workspace: EngineWorkspace;
  let env: Record<string, string>;

  beforeAll(async () => {
    workspace = await engineWorkspace("");
    const { directory } = workspace;
    const project = "name: test\nruntime: { name: nodejs, options: { typescript: false } }\nmain: index.js\n";
    await writeFile(join(directory, "Pulumi.yaml"), project);
    await setProgram("w1");
    env = { ...(process.env as Record<string, string>), ...workspace.stack.workspace.envVars };
    for (const name of ["dev", "staging", "prod"] as const) {
      // Long enough to be interrupted in prod.
      services[name] = await ObservedService.start(name === "prod" ? { jobDelayMs: 5000 } : {});
      const envVars = workspace.stack.workspace.envVars;
      const stack = await LocalWorkspace.createOrSelectStack(
        { stackName: name, workDir: directory },
        { envVars },
      );
      const config = Object.entries(services[name].config).map(([key, value]) => [
        key,
        { value, secret: /Key|Secret/.test(key) },
      ]);
      await stack.setAllConfig(Object.fromEntries(config));
      stacks[name] = stack;
    }
    const rows = Array.from({ length: 240 }, (_, at) => {
      const [u, k] = [at % 30, Math.floor(at / 30)];
      return `u${u},i${(u % 2) + 2 * ((u * 5 + k) % 12)},2026-01-0${k + 1},purchase`;
    });
    await writeFile(join(directory, "events.csv"), `userId,itemId,ts,eventType\n${rows.join("\n")}\n`);
    await writeFile(join(directory, ".gitignore"), "node_modules\nhome\nstate\nPulumi.test.yaml\n");
    await git("init", "--quiet");
    await commit("first");
    await stacks.dev.up();
  }, limit);
  afterAll(async () => {
    await workspace.dispose();
    await Promise.all(Object.values(services).map((service) => service.close()));
  });

  const setProgram = (trigger: string) => writeFile(join(workspace.directory, "index.js"), program(trigger));
  const git = (...args: string[]) =>
    run("git", ["-c", "user.name=test", "-c", "user.email=test@example.com", ...args], {
      cwd: workspace.directory,
    });
  const commit = async (message: string) => {
    await git("add", "--all");
    await git("commit", "--quiet", "--message", message);
  };
  const start = (...args: string[]): ChildProcess =>
    spawn(process.execPath, [command, ...args], {
      cwd: workspace.directory,
      env,
      // A group of its own, so that it can be killed with all that it started.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
  const recommender = async (...args: string[]) => {
    const child = start(...args);
    let out = "";
    let err = "";
    child.stdout?.on("data", (text) => {
      out += text;
    });
    child.stderr?.on("data", (text) => {
      err += text;
    });
    const [code] = (await once(child, "close")) as [number];
    return { code, out, err };
  };
  /** Runs a promotion and gives what it tells. */
  const promote = async (...args: string[]) => {
    const { code, out, err } = await recommender("promote", ...args, "--json");
    if (code === 1) throw new Error(err);
    return { code, err, ...(JSON.parse(out) as Review) };
  };
  const released = async (name: Name): Promise<Release[]> => {
    const text = await readFile(join(workspace.directory, "releases", `${name}.json`), "utf8");
    return (JSON.parse(text) as History).releases;
  };
  const submissions = (name: Name) =>
    services[name].calls().filter((call) => call.startsWith("POST /submit-"));
  const state = async (name: Name) => {
    const { deployment } = await stacks[name].exportStack();
    const { resources, pending_operations: pending = [] } = deployment as {
      resources: { type: string; id: string; delete?: boolean; outputs: Record<string, string> }[];
      pending_operations?: unknown[];
    };
    const of = (type: string) =>
      resources.find((resource) => resource.type.endsWith(`:${type}`) && !resource.delete);
    return { model: of("Model")?.id, deployment: of("Deployment")?.outputs ?? {}, pending };
  };
  /** The models that the service has deployed, by the record of the job that the state names. */
  const deployedBy = async (name: Name) => {
    const { deployment } = await state(name);
    const { projectId = "", deploymentJobId: jobId = "" } = deployment;
    return (await services[name].call(routes.getJob, { projectId, jobId })).jobData?.generatorModelId;
  };

  test(
    "a release tells what dev runs, and holds no secret and no path",
    async () => {
      const { code, out } = await recommender("release", "dev");
      expect({ code, out }).toEqual({
        code: 0,
        out: "Release dev-1 is written to releases/dev.json: commit it\n",
      });
      const { model } = await state("dev");
      const [release] = await released("dev");
      const { stdout: head } = await git("rev-parse", "HEAD");
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
      expect(text).not.toContain(services.dev.service.key);
      expect(text).not.toContain(workspace.directory);
      await commit("Release dev-1");
    },
    limit,
  );

  test(
    "a promotion trains and deploys in staging with one job each, and is written down",
    async () => {
      const review = await promote("dev", "staging", "--yes");
      expect(review).toMatchObject({ code: 0, verdict: "done", reasons: [] });
      expect(submissions("staging")).toEqual(["POST /submit-training-job", "POST /submit-deployment-job"]);
      const { model } = await state("staging");
      expect(await released("staging")).toMatchObject([
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
      await commit("Promote dev-1 to staging");
    },
    limit,
  );

  test(
    "a promotion that is killed while prod trains is carried on by the same command, without another training",
    async () => {
      const child = start("promote", "staging", "prod", "--yes");
      // The training job is in the state, and its model is waited for.
      const checkpoint = join(workspace.directory, "state/.pulumi/stacks/test/prod.json");
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
      expect(await released("prod")).toMatchObject([{ id: "prod-1", status: "running" }]);

      const review = await promote("staging", "prod", "--yes");
      expect(review).toMatchObject({ code: 0, verdict: "done", resumed: "prod-1" });
      expect(review.err).toMatch(
        /The engine that locked stack prod \(process \d+\) is no more: unlocking it/,
      );
      expect(submissions("prod")).toEqual(["POST /submit-training-job", "POST /submit-deployment-job"]);
      expect(await released("prod")).toMatchObject([{ id: "prod-1", status: "done" }]);
      expect((await state("prod")).pending).toEqual([]);
      await commit("Promote staging-1 to prod");
    },
    limit,
  );

  test(
    "dev with drift, pending changes or files that are not committed is refused, each with its reason",
    async () => {
      const { eventDatasets } = await services.dev.call(routes.listEventDatasets, {});
      const dataset = { eventDatasetId: eventDatasets[0]?.eventDatasetId ?? "", attributeSchema: null };
      await services.dev.call(routes.updateEventDataset, { ...dataset, name: "by hand" });
      await setProgram("w2");
      const refused = await promote("dev", "staging", "--yes", "--allow", "uncommitted");
      expect(refused).toMatchObject({ code: 2, verdict: "refused" });
      expect(refused.reasons.map(({ code, allowed }) => [code, allowed])).toEqual([
        ["drift", false],
        ["changes", false],
        ["uncommitted", true],
      ]);
      expect(refused.reasons[0]?.words).toContain("EventDataset events (changed)");
      expect(refused.reasons[1]?.words).toContain("Model weekly (replaced)");
      expect(submissions("staging")).toEqual([]);
      expect(await released("staging")).toHaveLength(1);
      await services.dev.call(routes.updateEventDataset, { ...dataset, name: "events" });
      await stacks.dev.up();
      await commit("w2");
      expect((await recommender("release", "dev")).code).toBe(0);
      await commit("Release dev-2");
    },
    limit,
  );

  test(
    "a model that falls short is not deployed, and a check that fails puts the former model back",
    async () => {
      const { model: former } = await state("staging");
      const short = await promote("dev", "staging", "--yes", "--min-quality-ratio", "1.2");
      expect(short).toMatchObject({ code: 2, verdict: "failed" });
      expect(short.release?.reason).toMatch(
        /Model weekly: model \S+ is not good enough.*The former models serve/,
      );
      expect(submissions("staging")).toEqual(["POST /submit-training-job"]);

      await stacks.staging.setConfig("minResults", { value: "1000" });
      const failed = await promote("dev", "staging", "--yes", "--allow", "uncommitted");
      expect(failed).toMatchObject({ code: 2, verdict: "failed" });
      expect(failed.release?.reason).toMatch(
        /Deployment live: the check failed: .* were put back by job \S+\. The former models serve/,
      );
      // The training of before is taken up; one job deploys it, another one puts the former model back.
      expect(submissions("staging")).toEqual(["POST /submit-deployment-job", "POST /submit-deployment-job"]);
      const { deployment, model } = await state("staging");
      expect(model).not.toBe(former);
      expect(deployment.generatorModelId).toBe(former);
      expect(await deployedBy("staging")).toBe(former);
      expect((await released("staging")).map(({ status }) => status)).toEqual(["done", "failed", "failed"]);
      await stacks.staging.removeConfig("minResults");
    },
    limit,
  );

  test(
    "a rollback deploys the former model without training, and program, state and service agree on it",
    async () => {
      const promoted = await promote("dev", "staging", "--yes", "--allow", "uncommitted");
      expect(promoted).toMatchObject({ code: 0, verdict: "done" });
      const { model: newer } = await state("staging");
      expect(await deployedBy("staging")).toBe(newer);
      const [first] = await released("staging");
      const older = first?.contents?.deployments[0]?.generator.modelId;
      submissions("staging");

      const { code, out } = await recommender("rollback", "staging");
      expect({ code, out }).toMatchObject({
        code: 0,
        out: expect.stringContaining(`live: ${older}, check passed\n    before: ${newer}`),
      });
      expect(submissions("staging")).toEqual(["POST /submit-deployment-job"]);
      expect(await deployedBy("staging")).toBe(older);
      expect((await released("staging")).at(-1)).toMatchObject({
        action: "rollback",
        status: "done",
        from: { release: "staging-1" },
      });
      const env = workspace.stack.workspace.envVars;
      const report = await compareStack({ cwd: workspace.directory, stack: "staging", env });
      expect({ changes: report.changes, drift: report.drift }).toEqual({ changes: [], drift: [] });
      expect(report.warnings.join()).toContain(`pinned to ${older} by recommender:pinnedModels`);

      expect((await recommender("rollback", "staging", "--undo")).code).toBe(0);
      expect(submissions("staging")).toEqual(["POST /submit-deployment-job"]);
      expect(await deployedBy("staging")).toBe(newer);
    },
    limit,
  );
});
